-- One row per session, its agents included, and one per machine for responses without a session.
-- Reads: owned_response
select
    owned_response.session_id,
    max(owned_response.project) as project,
    owned_response.machine,
    count(*) as response_count,
    sum(owned_response.input_tokens) as input_tokens,
    sum(owned_response.output_tokens) as output_tokens,
    sum(owned_response.cache_write_tokens) as cache_write_tokens,
    sum(owned_response.cache_read_tokens) as cache_read_tokens,
    sum(owned_response.total_tokens) as total_tokens,
    sum(owned_response.cost_usd) as cost_usd,
    sum(owned_response.estimated_cost_usd) as estimated_cost_usd,
    sum(case when owned_response.agent_id is not null then owned_response.cost_usd end) as agent_cost_usd,
    sum(owned_response.cache_savings_usd) as cache_savings_usd,
    sum(case when owned_response.cost_usd is null then 1 else 0 end) as unpriced_count,
    min(owned_response.local_day) as first_response_date,
    max(owned_response.local_day) as last_response_date,
    min(owned_response.responded_at) as first_responded_at,
    max(owned_response.responded_at) as last_responded_at
from owned_response
group by owned_response.session_id, owned_response.machine
