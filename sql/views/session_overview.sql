create view session_overview as
-- One row per session that is not empty, its agents included: title, duration, activity and cost.
select
    sessions.session_id,
    projects.name as project,
    (select bi_sessions.machine from bi_sessions where bi_sessions.session_id = sessions.session_id) as machine,
    sessions.title,
    sessions.first_prompt,
    sessions.git_branch,
    (
        select group_concat(model)
        from (
            select distinct bi_session_days.model
            from bi_session_days
            where bi_session_days.session_id = sessions.session_id and bi_session_days.model <> ''
            order by bi_session_days.model
        )
    ) as models,
    session_activity.prompt_count,
    session_activity.message_count,
    session_activity.denial_count,
    session_activity.correction_count,
    session_activity.interruption_count,
    session_activity.tool_call_count,
    session_activity.tool_error_count,
    session_activity.agent_count,
    session_activity.changed_file_count,
    session_activity.lines_added,
    session_activity.lines_removed,
    coalesce(session_costs.response_count, 0) as response_count,
    coalesce(session_costs.input_tokens, 0) as input_tokens,
    coalesce(session_costs.output_tokens, 0) as output_tokens,
    coalesce(session_costs.cache_write_tokens, 0) as cache_write_tokens,
    coalesce(session_costs.cache_read_tokens, 0) as cache_read_tokens,
    coalesce(session_costs.total_tokens, 0) as total_tokens,
    session_costs.cost_usd, -- NULL when no price is known
    session_costs.estimated_cost_usd, -- with estimates for placeholders
    session_costs.agent_cost_usd,
    session_costs.cache_savings_usd, -- against the same prompts without a cache
    coalesce(session_costs.unpriced_count, 0) as unpriced_count,
    session_activity.duration_s,
    sessions.version,
    date(sessions.started_at, (
        select utc_offset from time_zone_offsets where begins_at <= sessions.started_at order by begins_at desc limit 1
    )) as started_date, -- local
    sessions.started_at,
    sessions.ended_at
from sessions
join session_activity using (session_id)
left join projects using (project_id)
-- with `on`, SQLite computes all costs to find those of one session
left join session_costs using (session_id);
