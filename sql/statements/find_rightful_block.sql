-- The block that a tool call belongs to: outside a sidechain, then the earliest, then the smallest uuid.
select content_blocks.block_id, content_blocks.message_id, content_blocks.extra_json
from content_blocks
join messages using (message_id)
where content_blocks.block_id in (
    select block_id from tool_uses where tool_use_id = ?1
    union all
    select block_id from tool_use_copies where tool_use_id = ?1
)
order by
    coalesce(messages.is_sidechain, 0), messages.sent_at is null, messages.sent_at, messages.uuid,
    content_blocks.position
limit 1
