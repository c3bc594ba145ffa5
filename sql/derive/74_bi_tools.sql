delete from bi_tools
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_tools (
    session_id, activity_date, tool_name, agent_type, mcp_server, project, machine, call_count, ok_count, error_count,
    denied_count, stopped_count, pending_count, other_count, timed_count, duration_ms, result_bytes, is_mcp, day_began_at,
    day_began_unix
)
select
    tool_parts.session_id,
    tool_parts.activity_date,
    tool_parts.tool_name,
    case tool_parts.agent_key when 0 then '' else coalesce(agents.agent_type, 'unknown') end,
    max(tool_parts.mcp_server),
    coalesce(max(projects.name), ''),
    coalesce(max(session_machines.machine), ''),
    sum(tool_parts.call_count),
    sum(tool_parts.ok_count),
    sum(tool_parts.error_count),
    sum(tool_parts.denied_count),
    sum(tool_parts.stopped_count),
    sum(tool_parts.pending_count),
    sum(tool_parts.other_count),
    sum(tool_parts.timed_count),
    sum(tool_parts.duration_ms),
    sum(tool_parts.result_bytes),
    max(tool_parts.mcp_server is not null),
    tool_parts.activity_date || ' 00:00:00.000',
    unixepoch(tool_parts.activity_date)
from tool_parts
left join agents on agents.agent_key = tool_parts.agent_key
left join sessions on sessions.session_id = tool_parts.session_id
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = tool_parts.session_id
where tool_parts.session_id in (select session_id from touched_sessions union all select '')
group by 1, 2, 3, 4;
