create view tool_calls as
-- One row per tool call, with its result. A call without a result is pending.
select
    tool_uses.tool_use_id,
    messages.session_id,
    messages.agent_run_id,
    tool_uses.message_id,
    tool_results.message_id as result_message_id,
    (
        select _message_machines.machine from _message_machines where _message_machines.message_id = tool_uses.message_id
    ) as machine, -- of its session
    tool_uses.name,
    tool_uses.mcp_server,
    tool_uses.command,
    tool_uses.file_path,
    tool_uses.pattern,
    tool_uses.url,
    tool_uses.query,
    tool_uses.description,
    tool_uses.subagent_type,
    tool_uses.skill,
    coalesce(tool_results.outcome, 'pending') as outcome,
    coalesce(outcomes.outcome_group, 'other') as outcome_group, -- ok, error, denied, stopped, pending, other
    tool_results.denial_reason,
    tool_results.exit_code,
    tool_results.content as result,
    tool_results.byte_length as result_bytes,
    -- As reported by the tool, else the time between call and result, including the wait for the person.
    coalesce(tool_results.duration_ms, tool_results.elapsed_ms) as duration_ms,
    -- The same, only for calls that ran to their end.
    case when outcomes.is_timed then coalesce(tool_results.duration_ms, tool_results.elapsed_ms) end as run_ms,
    messages.model,
    messages.git_branch,
    messages.version,
    date(messages.sent_at, (
        select utc_offset from time_zone_offsets where begins_at <= messages.sent_at order by begins_at desc limit 1
    )) as called_date, -- local
    messages.sent_at as called_at,
    (select results.sent_at from messages as results where results.message_id = tool_results.message_id) as answered_at,
    -- The call after it in the same session and agent. Calls of one response are ordered as they were written.
    (
        select next_tool_uses.tool_use_id
        from messages as next_messages
        cross join tool_uses as next_tool_uses on next_tool_uses.message_id = next_messages.message_id
        cross join content_blocks as next_blocks on next_blocks.block_id = next_tool_uses.block_id
        where next_messages.session_id = messages.session_id
            and next_messages.agent_run_id is messages.agent_run_id
            and next_messages.type = 'assistant'
            and next_messages.sent_at >= messages.sent_at -- found through the index messages_by_session
            and (
                next_messages.sent_at, next_messages.line_number, next_messages.byte_offset, next_messages.uuid,
                next_blocks.position
            ) > (
                messages.sent_at, messages.line_number, messages.byte_offset, messages.uuid,
                (select blocks.position from content_blocks as blocks where blocks.block_id = tool_uses.block_id)
            )
        order by
            next_messages.sent_at, next_messages.line_number, next_messages.byte_offset, next_messages.uuid,
            next_blocks.position
        limit 1
    ) as next_tool_use_id
from tool_uses
left join messages on messages.message_id = tool_uses.message_id
left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
left join outcomes on outcomes.outcome = coalesce(tool_results.outcome, 'pending');
