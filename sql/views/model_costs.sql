create view model_costs as
-- One row per model, as written, and machine.
select
    model,
    priced_model,
    machine,
    count(*) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    sum(total_tokens) as total_tokens,
    round(sum(input_cost_usd), 6) as input_cost_usd,
    round(sum(output_cost_usd), 6) as output_cost_usd,
    round(sum(cache_write_5m_cost_usd) + sum(cache_write_1h_cost_usd), 6) as cache_write_cost_usd,
    round(sum(cache_read_cost_usd), 6) as cache_read_cost_usd,
    round(sum(web_search_cost_usd), 6) as web_search_cost_usd,
    round(sum(cost_usd), 6) as cost_usd,
    round(sum(estimated_cost_usd), 6) as estimated_cost_usd,
    round(sum(cache_savings_usd), 6) as cache_savings_usd, -- against the same prompts without a cache
    sum(cost_usd is null) as unpriced_count,
    min(responded_at) as first_responded_at,
    max(responded_at) as last_responded_at
from response_costs
group by model, priced_model, machine;
