-- One row per local day, project, model and machine.
-- Reads: owned_response
select
    owned_response.local_day as response_date,
    owned_response.project,
    owned_response.model,
    owned_response.machine,
    count(*) as response_count,
    sum(owned_response.input_tokens) as input_tokens,
    sum(owned_response.output_tokens) as output_tokens,
    sum(owned_response.cache_write_tokens) as cache_write_tokens,
    sum(owned_response.cache_read_tokens) as cache_read_tokens,
    sum(owned_response.cost_usd) as cost_usd,
    sum(owned_response.estimated_cost_usd) as estimated_cost_usd,
    sum(owned_response.cache_savings_usd) as cache_savings_usd,
    sum(case when owned_response.cost_usd is null then 1 else 0 end) as unpriced_count
from owned_response
group by owned_response.local_day, owned_response.project, owned_response.model, owned_response.machine
