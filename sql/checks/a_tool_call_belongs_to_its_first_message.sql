-- Of all messages that hold a call, the one outside a sidechain, then the earliest, then the smallest uuid has it.
select tool_uses.tool_use_id
from tool_use_copies
join tool_uses using (tool_use_id)
join messages as owner on owner.message_id = tool_uses.message_id
join content_blocks as copy_block on copy_block.block_id = tool_use_copies.block_id
join messages as copy on copy.message_id = copy_block.message_id
where (coalesce(copy.is_sidechain, 0), coalesce(copy.sent_at, '~'), copy.uuid)
    < (coalesce(owner.is_sidechain, 0), coalesce(owner.sent_at, '~'), owner.uuid)
