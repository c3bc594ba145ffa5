-- Sums of calls and changed files. In a new database this runs in parallel with the other scripts.
delete from _tool_parts
where part_number in (select part_number from touched_parts);

insert into _tool_parts (
    part_number, session_id, machine, agent_run_id, tool_name, mcp_server, call_count, ok_count, error_count, denied_count,
    stopped_count, pending_count, other_count, timed_count, duration_ms, result_bytes, activity_date
)
select
    touched_parts.part_number,
    coalesce(tool_calls.session_id, ''),
    case when tool_calls.session_id is not null then '' else coalesce(tool_calls.machine, '') end,
    coalesce(tool_calls.agent_run_id, 0),
    coalesce(tool_calls.name, ''),
    max(tool_calls.mcp_server),
    count(*),
    sum(tool_calls.outcome_group = 'ok'),
    sum(tool_calls.outcome_group = 'error'),
    sum(tool_calls.outcome_group = 'denied'),
    sum(tool_calls.outcome_group = 'stopped'),
    sum(tool_calls.outcome_group = 'pending'),
    sum(tool_calls.outcome_group = 'other'),
    count(tool_calls.run_ms),
    coalesce(sum(tool_calls.run_ms), 0),
    coalesce(sum(tool_calls.result_bytes), 0),
    tool_calls.called_date as activity_date
from touched_parts
cross join tool_calls
where tool_calls.message_id between touched_parts.part_number << 8 and (touched_parts.part_number << 8) + 255
group by 1, 2, 3, 4, 5, activity_date;

delete from _file_change_parts
where part_number in (select part_number from touched_parts);

insert into _file_change_parts (part_number, session_id, file_path, lines_added, lines_removed)
select
    touched_parts.part_number,
    messages.session_id,
    file_changes.file_path,
    sum(file_changes.lines_added),
    sum(file_changes.lines_removed)
from touched_parts
cross join tool_uses indexed by tool_uses_with_changes
    on tool_uses.message_id between touched_parts.part_number << 8 and (touched_parts.part_number << 8) + 255
    and tool_uses.change_kind is not null
cross join file_changes on file_changes.tool_use_id = tool_uses.tool_use_id
cross join messages on messages.message_id = tool_uses.message_id
where messages.session_id is not null
group by 1, 2, 3;
