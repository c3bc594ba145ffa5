-- The earliest answer to a call; further ones are copies of it.
update tool_uses
set tool_result_id = (
    select tool_results.tool_result_id
    from tool_results
    join messages using (message_id)
    join content_blocks using (block_id)
    where tool_results.tool_use_id = tool_uses.tool_use_id
    order by messages.sent_at is null, messages.sent_at, messages.uuid, content_blocks.position
    limit 1
)
where tool_use_id in (select tool_use_id from touched_tool_uses);

-- A call may have gone to another message, or away.
update tool_results
set elapsed_ms = null
where source_tool_use_id in (select tool_use_id from touched_tool_uses)
    and elapsed_ms is not null;

update tool_results
set elapsed_ms = cast(round((julianday(answer.sent_at) - julianday(call.sent_at)) * 86400000) as integer)
from touched_tool_uses
join tool_uses on tool_uses.tool_use_id = touched_tool_uses.tool_use_id
join messages as call on call.message_id = tool_uses.message_id
join tool_results as answered on answered.tool_use_id = tool_uses.tool_use_id
join messages as answer on answer.message_id = answered.message_id
where answered.tool_result_id = tool_results.tool_result_id;
