delete from bi_tools
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_tools (
    session_id, activity_date, tool_name, agent_type, mcp_server, project, machine, call_count, ok_count, error_count,
    denied_count, stopped_count, pending_count, other_count, timed_count, duration_ms, result_bytes, is_mcp, day_began_at,
    day_began_unix
)
select
    _tool_parts.session_id,
    _tool_parts.activity_date,
    _tool_parts.tool_name,
    case _tool_parts.agent_run_id when 0 then '' else coalesce(agents.agent_type, 'unknown') end,
    max(_tool_parts.mcp_server),
    coalesce(max(projects.name), ''),
    coalesce(session_machines.machine, _tool_parts.machine),
    sum(_tool_parts.call_count),
    sum(_tool_parts.ok_count),
    sum(_tool_parts.error_count),
    sum(_tool_parts.denied_count),
    sum(_tool_parts.stopped_count),
    sum(_tool_parts.pending_count),
    sum(_tool_parts.other_count),
    sum(_tool_parts.timed_count),
    sum(_tool_parts.duration_ms),
    sum(_tool_parts.result_bytes),
    max(_tool_parts.mcp_server is not null),
    _tool_parts.activity_date || ' 00:00:00.000',
    unixepoch(_tool_parts.activity_date)
from _tool_parts
left join agents on agents.agent_run_id = _tool_parts.agent_run_id
left join sessions on sessions.session_id = _tool_parts.session_id
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = _tool_parts.session_id
where _tool_parts.session_id in (select session_id from touched_sessions union all select '')
group by 1, 2, 3, 4, 7;
