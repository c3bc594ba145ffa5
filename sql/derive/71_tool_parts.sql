-- Calls and the files they changed, counted. Of a new database that is done beside the rest.
delete from tool_parts
where part_number in (select part_number from touched_parts);

insert into tool_parts (
    part_number, session_id, agent_key, tool_name, mcp_server, call_count, ok_count, error_count, denied_count,
    stopped_count, pending_count, other_count, timed_count, duration_ms, result_bytes, activity_date
)
with calls as (
    select
        touched_parts.part_number,
        messages.session_id,
        messages.agent_key,
        tool_uses.name,
        tool_uses.mcp_server,
        coalesce(tool_results.outcome, 'pending') as outcome,
        coalesce(tool_results.duration_ms, tool_results.elapsed_ms) as duration_ms,
        tool_results.byte_length as result_bytes,
        substr(messages.sent_at, 1, 10) as activity_date
    from touched_parts
    cross join tool_uses
        on tool_uses.message_id between touched_parts.part_number << 8 and (touched_parts.part_number << 8) + 255
    cross join messages on messages.message_id = tool_uses.message_id
    left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
)

select
    part_number,
    coalesce(session_id, ''),
    coalesce(agent_key, 0),
    coalesce(name, ''),
    max(mcp_server),
    count(*),
    sum(outcome = 'ok'),
    sum(outcome in ('error', 'timeout', 'invalid_input')),
    sum(outcome in ('user_rejected', 'permission_denied', 'hook_blocked')),
    sum(outcome in ('interrupted', 'cancelled')),
    sum(outcome = 'pending'),
    sum(
        outcome not in (
            'ok', 'error', 'timeout', 'invalid_input', 'user_rejected', 'permission_denied', 'hook_blocked', 'interrupted',
            'cancelled', 'pending'
        )
    ),
    sum(outcome in ('ok', 'error') and coalesce(duration_ms, -1) >= 0),
    sum(case when outcome in ('ok', 'error') and duration_ms >= 0 then duration_ms else 0 end),
    sum(coalesce(result_bytes, 0)),
    activity_date
from calls
group by 1, 2, 3, 4, activity_date;

delete from file_change_parts
where part_number in (select part_number from touched_parts);

insert into file_change_parts (part_number, session_id, file_path, lines_added, lines_removed)
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
