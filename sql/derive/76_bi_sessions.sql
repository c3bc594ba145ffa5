delete from bi_sessions
where session_id in (select session_id from touched_sessions);

insert into bi_sessions (
    session_id, project, machine, title, git_branch, version, entrypoint, main_model, message_count, prompt_count,
    denial_count, correction_count, interruption_count, tool_call_count, tool_error_count, agent_count,
    changed_file_count, lines_added, lines_removed, response_count, input_tokens, output_tokens, cache_write_tokens,
    cache_read_tokens, unpriced_count, duration_s, cost_usd, estimated_cost_usd, is_background, started_at, started_unix,
    ended_at, ended_unix
)
with used as (
    select
        session_id,
        sum(response_count) as response_count,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        sum(cache_write_tokens) as cache_write_tokens,
        sum(cache_read_tokens) as cache_read_tokens,
        sum(unpriced_count) as unpriced_count,
        round(sum(cost_usd), 6) as cost_usd,
        round(sum(estimated_cost_usd), 6) as estimated_cost_usd
    from bi_session_days
    where session_id in (select session_id from touched_sessions)
    group by session_id
)

select
    sessions.session_id,
    coalesce(projects.name, ''),
    coalesce(session_machines.machine, ''),
    sessions.title,
    sessions.git_branch,
    sessions.version,
    sessions.entrypoint,
    (
        select bi_session_days.model
        from bi_session_days
        where bi_session_days.session_id = sessions.session_id
        group by bi_session_days.model
        order by sum(bi_session_days.cost_usd) desc, sum(bi_session_days.response_count) desc, bi_session_days.model
        limit 1
    ),
    session_activity.message_count, session_activity.prompt_count, session_activity.denial_count,
    session_activity.correction_count, session_activity.interruption_count, session_activity.tool_call_count,
    session_activity.tool_error_count, session_activity.agent_count, session_activity.changed_file_count,
    session_activity.lines_added, session_activity.lines_removed,
    coalesce(used.response_count, 0),
    coalesce(used.input_tokens, 0),
    coalesce(used.output_tokens, 0),
    coalesce(used.cache_write_tokens, 0),
    coalesce(used.cache_read_tokens, 0),
    coalesce(used.unpriced_count, 0),
    session_activity.duration_s,
    used.cost_usd,
    used.estimated_cost_usd,
    coalesce(sessions.session_kind = 'bg', 0),
    replace(rtrim(sessions.started_at, 'Z'), 'T', ' '),
    unixepoch(sessions.started_at),
    replace(rtrim(sessions.ended_at, 'Z'), 'T', ' '),
    unixepoch(sessions.ended_at)
from sessions
join session_activity on session_activity.session_id = sessions.session_id
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = sessions.session_id
left join used on used.session_id = sessions.session_id
where sessions.session_id in (select session_id from touched_sessions);

update counted_rows
set
    last_message_id = (select coalesce(max(message_id), 0) from messages),
    last_api_response_id = (select coalesce(max(api_response_id), 0) from api_responses),
    touches_all = 0;

drop table touched_response_parts;
drop table touched_parts;
drop table session_machines;
