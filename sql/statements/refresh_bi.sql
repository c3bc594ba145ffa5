-- The tables for BI tools, for the sessions that were touched. What stands in no session has the key ''.

-- The call may be in another session than its answer.
insert or ignore into touched_sessions (session_id)
select messages.session_id
from touched_tool_uses
cross join tool_uses using (tool_use_id)
cross join messages on messages.message_id = tool_uses.message_id
where messages.session_id is not null
union
select api_responses.session_id
from touched_responses
cross join api_responses using (api_response_id)
where api_responses.session_id is not null;

-- The machine that the first message of a session was recorded on.
create temp table session_machines as
select
    touched_sessions.session_id,
    (
        select min(sources.machine)
        from messages
        cross join files on files.file_id = messages.file_id
        cross join sources on sources.source_id = files.source_id
        where messages.session_id = touched_sessions.session_id
            and messages.sent_at is (
                select min(sent_at) from messages where messages.session_id = touched_sessions.session_id
            )
    ) as machine
from touched_sessions;

create index temp.session_machines_by_session on session_machines (session_id);

-- Days on which something was or is.
create temp table touched_days as
select activity_date
from bi_session_days
where session_id in (select session_id from touched_sessions union all select '');

delete from bi_session_days
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_session_days (
    session_id, activity_date, model, machine, project, response_count, input_tokens, output_tokens,
    estimated_output_tokens, cache_write_tokens, cache_read_tokens, web_search_count, unpriced_count, cost_usd,
    estimated_cost_usd, agent_cost_usd
)
select
    coalesce(responses.session_id, ''),
    responses.response_date,
    coalesce(responses.model, ''),
    coalesce(sources.machine, ''),
    coalesce(projects.name, ''),
    count(*),
    sum(coalesce(responses.input_tokens, 0)),
    sum(coalesce(responses.output_tokens, 0)),
    sum(max(coalesce(responses.estimated_output_tokens, 0), coalesce(responses.output_tokens, 0))),
    sum(coalesce(responses.cache_write_tokens, 0)),
    sum(coalesce(responses.cache_read_tokens, 0)),
    sum(coalesce(responses.web_search_count, 0)),
    sum(responses.cost_usd is null),
    round(sum(responses.cost_usd), 6),
    round(sum(responses.estimated_cost_usd), 6),
    round(sum(case when responses.agent_key is not null then responses.cost_usd end), 6)
from (
    select * from response_costs where session_id in (select session_id from touched_sessions)
    union all
    select * from response_costs where session_id is null
) as responses
left join sessions on sessions.session_id = responses.session_id
left join projects on projects.project_id = sessions.project_id
left join messages on messages.message_id = responses.message_id
left join files on files.file_id = messages.file_id
left join sources on sources.source_id = files.source_id
group by 1, 2, 3, 4;

insert into touched_days (activity_date)
select activity_date
from bi_session_days
where session_id in (select session_id from touched_sessions union all select '');

delete from bi_days
where activity_date in (select activity_date from touched_days)
    or activity_date is null;

insert into bi_days (
    activity_date, model, project, machine, session_count, response_count, input_tokens, output_tokens,
    estimated_output_tokens, cache_write_tokens, cache_read_tokens, web_search_count, unpriced_count, cost_usd,
    estimated_cost_usd, agent_cost_usd, day_began_at, day_began_unix
)
select
    activity_date,
    model,
    project,
    machine,
    count(distinct session_id),
    sum(response_count),
    sum(input_tokens),
    sum(output_tokens),
    sum(estimated_output_tokens),
    sum(cache_write_tokens),
    sum(cache_read_tokens),
    sum(web_search_count),
    sum(unpriced_count),
    round(sum(cost_usd), 6),
    round(sum(estimated_cost_usd), 6),
    round(sum(agent_cost_usd), 6),
    activity_date || ' 00:00:00.000',
    unixepoch(activity_date)
from bi_session_days
where activity_date in (select activity_date from touched_days)
    or activity_date is null
group by activity_date, model, project, machine;

drop table touched_days;

delete from bi_tools
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_tools (
    session_id, activity_date, tool_name, agent_type, mcp_server, project, machine, call_count, ok_count, error_count,
    denied_count, stopped_count, pending_count, other_count, timed_count, duration_ms, result_bytes, is_mcp, day_began_at,
    day_began_unix
)
select
    coalesce(calls.session_id, ''),
    substr(calls.called_at, 1, 10),
    coalesce(calls.name, ''),
    case when calls.agent_key is null then '' else coalesce(agents.agent_type, 'unknown') end,
    max(calls.mcp_server),
    coalesce(max(projects.name), ''),
    coalesce(max(session_machines.machine), ''),
    count(*),
    sum(calls.outcome = 'ok'),
    sum(calls.outcome in ('error', 'timeout', 'invalid_input')),
    sum(calls.outcome in ('user_rejected', 'permission_denied', 'hook_blocked')),
    sum(calls.outcome in ('interrupted', 'cancelled')),
    sum(calls.outcome = 'pending'),
    sum(
        calls.outcome not in (
            'ok', 'error', 'timeout', 'invalid_input', 'user_rejected', 'permission_denied', 'hook_blocked', 'interrupted',
            'cancelled', 'pending'
        )
    ),
    sum(calls.outcome in ('ok', 'error') and coalesce(calls.duration_ms, -1) >= 0),
    sum(case when calls.outcome in ('ok', 'error') and calls.duration_ms >= 0 then calls.duration_ms else 0 end),
    sum(coalesce(calls.result_bytes, 0)),
    max(calls.mcp_server is not null),
    substr(max(calls.called_at), 1, 10) || ' 00:00:00.000',
    unixepoch(substr(max(calls.called_at), 1, 10))
from (
    select * from tool_calls where session_id in (select session_id from touched_sessions)
    union all
    select * from tool_calls where session_id is null
) as calls
left join agents on agents.agent_key = calls.agent_key
left join sessions on sessions.session_id = calls.session_id
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = calls.session_id
group by 1, 2, 3, 4;

delete from bi_feedback
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_feedback (
    session_id, signal_number, kind, tool_name, tool_use_id, model, agent_type, git_branch, project, machine, text_length,
    is_trivial, said_at, said_unix
)
select
    coalesce(signals.session_id, ''),
    row_number() over (
        partition by signals.session_id
        order by
            signals.said_at is null, signals.said_at, signals.kind, signals.tool_use_id, messages.uuid, signals.question,
            signals.text
    ),
    signals.kind,
    signals.tool_name,
    signals.tool_use_id,
    signals.model,
    signals.agent_type,
    signals.git_branch,
    coalesce(signals.project, ''),
    coalesce(session_machines.machine, ''),
    coalesce(length(signals.text), 0),
    signals.is_trivial,
    replace(rtrim(signals.said_at, 'Z'), 'T', ' '),
    unixepoch(signals.said_at)
from (
    select * from feedback where session_id in (select session_id from touched_sessions)
    union all
    select * from feedback where session_id is null
) as signals
left join messages on messages.message_id = signals.message_id
left join session_machines on session_machines.session_id = signals.session_id;

delete from bi_sessions
where session_id in (select session_id from touched_sessions);

insert into bi_sessions (
    session_id, project, machine, title, git_branch, version, entrypoint, main_model, message_count, prompt_count,
    denial_count, correction_count, interruption_count, tool_call_count, tool_error_count, agent_count,
    changed_file_count, lines_added, lines_removed, response_count, input_tokens, output_tokens, cache_write_tokens,
    cache_read_tokens, unpriced_count, duration_s, cost_usd, estimated_cost_usd, is_background, started_at, started_unix,
    ended_at, ended_unix
)
with spoken as (
    select
        session_id,
        count(*) as message_count,
        sum(
            coalesce(prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note', 'sdk_prompt'), 0)
            and agent_key is null
        ) as prompt_count
    from messages
    where session_id in (select session_id from touched_sessions)
    group by session_id
),

said as (
    select
        session_id,
        sum(kind in ('denial', 'plan_rejected')) as denial_count,
        sum(kind = 'correction') as correction_count,
        sum(kind = 'interruption') as interruption_count
    from bi_feedback
    where session_id in (select session_id from touched_sessions)
    group by session_id
),

called as (
    select session_id, sum(call_count) as tool_call_count, sum(error_count) as tool_error_count
    from bi_tools
    where session_id in (select session_id from touched_sessions)
    group by session_id
),

helped as (
    select session_id, count(*) as agent_count
    from agents
    where internal_kind is null
        and session_id in (select session_id from touched_sessions)
    group by session_id
),

changed as (
    select
        messages.session_id,
        count(distinct file_changes.file_path) as changed_file_count,
        sum(file_changes.lines_added) as lines_added,
        sum(file_changes.lines_removed) as lines_removed
    from messages
    join tool_uses on tool_uses.message_id = messages.message_id
    join file_changes on file_changes.tool_use_id = tool_uses.tool_use_id
    where messages.session_id in (select session_id from touched_sessions)
    group by messages.session_id
),

used as (
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
    coalesce(spoken.message_count, 0),
    coalesce(spoken.prompt_count, 0),
    coalesce(said.denial_count, 0),
    coalesce(said.correction_count, 0),
    coalesce(said.interruption_count, 0),
    coalesce(called.tool_call_count, 0),
    coalesce(called.tool_error_count, 0),
    coalesce(helped.agent_count, 0),
    coalesce(changed.changed_file_count, 0),
    coalesce(changed.lines_added, 0),
    coalesce(changed.lines_removed, 0),
    coalesce(used.response_count, 0),
    coalesce(used.input_tokens, 0),
    coalesce(used.output_tokens, 0),
    coalesce(used.cache_write_tokens, 0),
    coalesce(used.cache_read_tokens, 0),
    coalesce(used.unpriced_count, 0),
    unixepoch(sessions.ended_at) - unixepoch(sessions.started_at),
    used.cost_usd,
    used.estimated_cost_usd,
    coalesce(sessions.session_kind = 'bg', 0),
    replace(rtrim(sessions.started_at, 'Z'), 'T', ' '),
    unixepoch(sessions.started_at),
    replace(rtrim(sessions.ended_at, 'Z'), 'T', ' '),
    unixepoch(sessions.ended_at)
from sessions
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = sessions.session_id
left join spoken on spoken.session_id = sessions.session_id
left join said on said.session_id = sessions.session_id
left join called on called.session_id = sessions.session_id
left join helped on helped.session_id = sessions.session_id
left join changed on changed.session_id = sessions.session_id
left join used on used.session_id = sessions.session_id
where sessions.session_id in (select session_id from touched_sessions);

drop table session_machines;
