create view tool_calls as
-- One row per tool call, with its result beside it. A call without a result is pending.
select
    tool_uses.tool_use_id,
    messages.session_id,
    messages.agent_key,
    tool_uses.message_id,
    answers.message_id as result_message_id,
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
    coalesce(answers.outcome, 'pending') as outcome,
    answers.denial_reason,
    answers.exit_code,
    answers.content as result,
    answers.byte_length as result_bytes,
    coalesce(
        answers.duration_ms,
        cast(round((julianday(carriers.sent_at) - julianday(messages.sent_at)) * 86400000) as integer)
    ) as duration_ms, -- as the tool tells it, else the time between call and answer, waiting for the person included
    messages.model,
    messages.git_branch,
    messages.version,
    messages.sent_at as called_at,
    carriers.sent_at as answered_at
from tool_uses
join messages on messages.message_id = tool_uses.message_id
left join tool_results as answers
    on answers.tool_result_id = (
        -- The earliest answer; further ones are copies of it.
        select tool_results.tool_result_id
        from tool_results
        join messages as carriers on carriers.message_id = tool_results.message_id
        where tool_results.tool_use_id = tool_uses.tool_use_id
        order by carriers.sent_at is null, carriers.sent_at, carriers.uuid
        limit 1
    )
left join messages as carriers on carriers.message_id = answers.message_id;
