-- One row per model, as written, and machine.
-- Reads: owned_response
select
    owned_response.model,
    owned_response.priced_model,
    owned_response.machine,
    count(*) as response_count,
    sum(owned_response.input_tokens) as input_tokens,
    sum(owned_response.output_tokens) as output_tokens,
    sum(owned_response.cache_write_tokens) as cache_write_tokens,
    sum(owned_response.cache_read_tokens) as cache_read_tokens,
    sum(owned_response.total_tokens) as total_tokens,
    sum(owned_response.input_cost_usd) as input_cost_usd,
    sum(owned_response.output_cost_usd) as output_cost_usd,
    sum(owned_response.cache_write_5m_cost_usd) + sum(owned_response.cache_write_1h_cost_usd) as cache_write_cost_usd,
    sum(owned_response.cache_read_cost_usd) as cache_read_cost_usd,
    sum(owned_response.web_search_cost_usd) as web_search_cost_usd,
    sum(owned_response.cost_usd) as cost_usd,
    sum(owned_response.estimated_cost_usd) as estimated_cost_usd,
    sum(owned_response.cache_savings_usd) as cache_savings_usd,
    sum(case when owned_response.cost_usd is null then 1 else 0 end) as unpriced_count,
    min(owned_response.responded_at) as first_responded_at,
    max(owned_response.responded_at) as last_responded_at
from owned_response
group by owned_response.model, owned_response.priced_model, owned_response.machine
