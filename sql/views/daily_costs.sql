create view daily_costs as
-- One row per local day, model and machine.
select
    response_date,
    model,
    machine,
    count(*) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    sum(total_tokens) as total_tokens,
    round(sum(cost_usd), 6) as cost_usd, -- as recorded; NULL when no price is known
    round(sum(estimated_cost_usd), 6) as estimated_cost_usd, -- with estimates for placeholders
    round(sum(cache_savings_usd), 6) as cache_savings_usd, -- against the same prompts without a cache
    sum(cost_usd is null) as unpriced_count
from response_costs
group by response_date, model, machine;
