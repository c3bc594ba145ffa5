-- A tool call as it was written, and what else its block says.
select tool_uses.name, tool_uses.input_json, content_blocks.extra_json
from tool_uses
join content_blocks using (block_id)
where tool_uses.tool_use_id = ?1
