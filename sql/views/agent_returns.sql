create view agent_returns as
-- One row per agent that a call started: what it cost, and what it returned.
with costs as materialized (
    select
        agent_run_id,
        count(*) as response_count,
        sum(cost_usd) as cost_usd,
        sum(cost_usd is null) as unpriced_count,
        max(responded_at) as last_responded_at
    from response_costs
    where agent_run_id is not null
    group by agent_run_id
),

returned as (
    select
        agent_tree.agent_run_id,
        length(agent_tree.result) as result_length
    from agent_tree
)

select
    agents.agent_run_id,
    agents.session_id,
    projects.name as project,
    agents.agent_id,
    agents.agent_type,
    agents.description,
    agents.status,
    outcomes.outcome, -- of the call
    agents.spawned_by_tool_use_id, -- the call, and its line
    messages.message_id,
    messages.file_id,
    messages.line_number,
    returned.result_length, -- characters; NULL if no result is known
    -- The call or the agent failed or was stopped, or the session went on without its result.
    returned.result_length is null
        and (
            outcomes.outcome_group in ('error', 'denied', 'stopped')
            or coalesce(agents.status, '') in ('failed', 'stopped', 'killed')
            or (
                outcomes.outcome_group = 'pending'
                and exists (
                    select 1
                    from messages as later
                    where later.session_id = agents.session_id
                        and later.sent_at > max(coalesce(agents.ended_at, ''), coalesce(costs.last_responded_at, ''))
                        and later.agent_run_id is null
                        and later.type = 'assistant'
                )
            )
        ) as is_without_result,
    costs.response_count,
    round(costs.cost_usd, 6) as cost_usd, -- without agents that it started itself
    costs.unpriced_count,
    date(agents.started_at, (
        select utc_offset from time_zone_offsets where begins_at <= agents.started_at order by begins_at desc limit 1
    )) as started_date, -- local
    agents.started_at
from agents
join tool_uses on tool_uses.tool_use_id = agents.spawned_by_tool_use_id
join messages on messages.message_id = tool_uses.message_id
left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
join outcomes on outcomes.outcome = coalesce(tool_results.outcome, 'pending')
left join returned on returned.agent_run_id = agents.agent_run_id
left join costs on costs.agent_run_id = agents.agent_run_id
left join sessions on sessions.session_id = agents.session_id
left join projects on projects.project_id = sessions.project_id;
