-- The earliest answer to a call; further ones are copies of it. Rows are written only where something is new: those of
-- answers are long.
create temp table answers as
select
    tool_uses.tool_use_id, tool_results.tool_result_id,
    cast(round((julianday(answer.sent_at) - julianday(call.sent_at)) * 86400000) as integer) as elapsed_ms,
    row_number() over (
        partition by tool_uses.tool_use_id
        order by answer.sent_at is null, answer.sent_at, answer.uuid, content_blocks.position
    ) as place
from touched_tool_uses
cross join tool_uses on tool_uses.tool_use_id = touched_tool_uses.tool_use_id
cross join messages as call on call.message_id = tool_uses.message_id
cross join tool_results on tool_results.tool_use_id = tool_uses.tool_use_id
cross join messages as answer on answer.message_id = tool_results.message_id
cross join content_blocks on content_blocks.block_id = tool_results.block_id;

update tool_uses
set tool_result_id = answers.tool_result_id
from answers
where answers.place = 1
    and answers.tool_use_id = tool_uses.tool_use_id
    and tool_uses.tool_result_id is not answers.tool_result_id;

update tool_results
set elapsed_ms = answers.elapsed_ms
from answers
where answers.tool_result_id = tool_results.tool_result_id
    and tool_results.elapsed_ms is not answers.elapsed_ms;

-- A call may have lost its answers, or gone away.
create index temp.answers_by_call on answers (tool_use_id);

update tool_uses
set tool_result_id = null
where tool_result_id is not null
    and tool_use_id in (select tool_use_id from touched_tool_uses)
    and not exists (select 1 from answers where answers.tool_use_id = tool_uses.tool_use_id);

update tool_results
set elapsed_ms = null
where elapsed_ms is not null
    and tool_use_id is null
    and source_tool_use_id in (select tool_use_id from touched_tool_uses);

drop table answers;
