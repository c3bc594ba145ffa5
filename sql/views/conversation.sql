create view conversation as
-- One row per message with content, with its text as in _message_texts. Order by sent_at, file_id, line_number to read a
-- session.
select
    messages.session_id,
    messages.message_id,
    messages.uuid,
    messages.parent_message_id,
    messages.agent_run_id,
    messages.file_id,
    messages.line_number,
    messages.type,
    messages.subtype,
    messages.prompt_kind,
    messages.model,
    (select _message_texts.text from _message_texts where _message_texts.message_id = messages.message_id) as text,
    (
        select group_concat(text, char(10))
        from (
            select content_blocks.text
            from content_blocks
            where content_blocks.message_id = messages.message_id and content_blocks.type = 'thinking'
            order by content_blocks.position, content_blocks.part_number
        )
    ) as thinking,
    (
        select group_concat(call, char(10))
        from (
            select
                tool_uses.name || coalesce(
                    ': ' || coalesce(tool_uses.command, tool_uses.file_path, tool_uses.pattern, tool_uses.url,
                        tool_uses.query, tool_uses.description, tool_uses.skill),
                    ''
                ) as call
            from tool_uses
            join content_blocks on content_blocks.block_id = tool_uses.block_id
            where tool_uses.message_id = messages.message_id
            order by content_blocks.position
        )
    ) as tool_calls,
    (
        select group_concat(content, char(10))
        from (
            select tool_results.content
            from tool_results
            join content_blocks on content_blocks.block_id = tool_results.block_id
            where tool_results.message_id = messages.message_id
            order by content_blocks.position
        )
    ) as tool_results,
    messages.is_sidechain,
    messages.is_meta,
    messages.sent_at
from messages
where messages.type in ('user', 'assistant', 'system')
    or messages.prompt_kind is not null;
