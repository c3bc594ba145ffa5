-- One row per local day, machine, project and model: responses, tokens and cost.
select
    owned_response.local_day,
    owned_response.machine,
    owned_response.project,
    owned_response.model,
    count(*) as response_count,
    count(distinct owned_response.session_id) as session_count,
    cast(sum(owned_response.input_tokens) as bigint) as input_tokens,
    cast(sum(owned_response.output_tokens) as bigint) as output_tokens,
    cast(sum(owned_response.cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(owned_response.cache_read_tokens) as bigint) as cache_read_tokens,
    sum(owned_response.cost_usd) as cost_usd,
    sum(owned_response.estimated_cost_usd) as estimated_cost_usd,
    sum(owned_response.cache_savings_usd) as cache_savings_usd,
    cast(sum(case when owned_response.cost_usd is null then 1 else 0 end) as bigint) as unpriced_count
from {{ ref('owned_response') }} as owned_response
group by owned_response.local_day, owned_response.machine, owned_response.project, owned_response.model
