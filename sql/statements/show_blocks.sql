select
    content_blocks.message_id,
    content_blocks.position,
    content_blocks.type,
    case when content_blocks.type <> 'tool_use' then coalesce(messages.prompt_text, content_blocks.text) end as text,
    content_blocks.media_type,
    tool_uses.tool_use_id,
    tool_uses.name,
    coalesce(tool_uses.command, tool_uses.file_path, tool_uses.pattern, tool_uses.url, tool_uses.query,
        tool_uses.description, tool_uses.skill) as what,
    tool_uses.input_json,
    case when tool_uses.tool_use_id is not null then coalesce(tool_results.outcome, 'pending') end as outcome,
    tool_results.denial_reason,
    tool_results.content as result
from messages
join content_blocks on content_blocks.message_id = messages.message_id
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
where messages.session_id = :session
    and messages.type <> 'progress'
    and content_blocks.part_number = 0
order by content_blocks.message_id, content_blocks.position
