select tool_use_id
from tool_uses
where message_id = ?1
union
select tool_use_copies.tool_use_id
from tool_use_copies
join content_blocks using (block_id)
where content_blocks.message_id = ?1
