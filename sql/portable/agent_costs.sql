-- One row per type of agent and machine; the session itself has the type 'main'.
-- Reads: owned_response
with runs as (
    select
        case
            when owned_response.agent_id is null then 'main'
            else coalesce(owned_response.agent_type, 'unknown')
        end as agent_type,
        owned_response.machine,
        owned_response.session_id,
        owned_response.agent_id,
        count(*) as response_count,
        sum(owned_response.input_tokens) as input_tokens,
        sum(owned_response.output_tokens) as output_tokens,
        sum(owned_response.cache_write_tokens) as cache_write_tokens,
        sum(owned_response.cache_read_tokens) as cache_read_tokens,
        sum(owned_response.cost_usd) as cost_usd,
        sum(owned_response.estimated_cost_usd) as estimated_cost_usd,
        sum(case when owned_response.cost_usd is null then 1 else 0 end) as unpriced_count
    from owned_response
    group by owned_response.agent_type, owned_response.machine, owned_response.session_id, owned_response.agent_id
)

select
    runs.agent_type,
    runs.machine,
    count(runs.agent_id) as agent_count,
    sum(runs.response_count) as response_count,
    sum(runs.input_tokens) as input_tokens,
    sum(runs.output_tokens) as output_tokens,
    sum(runs.cache_write_tokens) as cache_write_tokens,
    sum(runs.cache_read_tokens) as cache_read_tokens,
    sum(runs.cost_usd) as cost_usd,
    sum(runs.estimated_cost_usd) as estimated_cost_usd,
    sum(runs.unpriced_count) as unpriced_count
from runs
group by runs.agent_type, runs.machine
