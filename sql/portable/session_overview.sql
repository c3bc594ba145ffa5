-- One row per session that is not empty, its agents included: activity, duration and cost.
-- Reads: owned_session, owned_response
with costs as (
    select
        owned_response.session_id,
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
        sum(case when owned_response.cost_usd is null then 1 else 0 end) as unpriced_count
    from owned_response
    group by owned_response.session_id
)

select
    owned_session.session_id,
    owned_session.project,
    owned_session.machine,
    owned_session.git_branch,
    owned_session.prompt_count,
    owned_session.message_count,
    owned_session.denial_count,
    owned_session.correction_count,
    owned_session.interruption_count,
    owned_session.tool_call_count,
    owned_session.tool_error_count,
    owned_session.agent_count,
    owned_session.changed_file_count,
    owned_session.lines_added,
    owned_session.lines_removed,
    coalesce(costs.response_count, 0) as response_count,
    coalesce(costs.input_tokens, 0) as input_tokens,
    coalesce(costs.output_tokens, 0) as output_tokens,
    coalesce(costs.cache_write_tokens, 0) as cache_write_tokens,
    coalesce(costs.cache_read_tokens, 0) as cache_read_tokens,
    coalesce(costs.total_tokens, 0) as total_tokens,
    costs.cost_usd,
    costs.estimated_cost_usd,
    costs.agent_cost_usd,
    costs.cache_savings_usd,
    coalesce(costs.unpriced_count, 0) as unpriced_count,
    owned_session.duration_s,
    owned_session.version,
    owned_session.local_day as started_date,
    owned_session.started_at,
    owned_session.ended_at
from owned_session
left join costs on costs.session_id = owned_session.session_id
where not owned_session.is_empty
