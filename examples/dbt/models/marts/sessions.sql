-- One row per session, its agents included: what happened in it and what it cost.
with costs as (
    select
        owned_response.session_id,
        count(*) as response_count,
        cast(sum(owned_response.total_tokens) as bigint) as total_tokens,
        sum(owned_response.cost_usd) as cost_usd,
        sum(case when owned_response.agent_id is not null then owned_response.cost_usd end) as agent_cost_usd,
        cast(sum(case when owned_response.cost_usd is null then 1 else 0 end) as bigint) as unpriced_count
    from {{ ref('owned_response') }} as owned_response
    group by owned_response.session_id
)

select
    owned_session.session_id,
    owned_session.machine,
    owned_session.project,
    owned_session.git_branch,
    owned_session.version,
    owned_session.main_model,
    owned_session.message_count,
    owned_session.prompt_count,
    owned_session.denial_count,
    owned_session.correction_count,
    owned_session.interruption_count,
    owned_session.tool_call_count,
    owned_session.tool_error_count,
    owned_session.agent_count,
    owned_session.changed_file_count,
    owned_session.lines_added,
    owned_session.lines_removed,
    owned_session.duration_s,
    coalesce(costs.response_count, 0) as response_count,
    coalesce(costs.total_tokens, 0) as total_tokens,
    costs.cost_usd,
    costs.agent_cost_usd,
    coalesce(costs.unpriced_count, 0) as unpriced_count,
    owned_session.is_background,
    owned_session.local_day,
    owned_session.started_at,
    owned_session.ended_at
from {{ ref('owned_session') }} as owned_session
left join costs on costs.session_id = owned_session.session_id
where not owned_session.is_empty
