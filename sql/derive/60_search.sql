-- The words of blocks that are new. Those of a block that goes away are taken out before (sql/statements/search.sql).
insert into search (rowid, text)
select content_blocks.block_id, substr(coalesce(
    content_blocks.text,
    tool_uses.command,
    case when exists (select 1 from settings where setting = 'index_tool_output') then tool_results.content end
), 1, 1000000) as words
from content_blocks
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join tool_results on tool_results.block_id = content_blocks.block_id
where content_blocks.block_id > (select last_block_id from indexed_blocks)
    and words is not null;

update indexed_blocks
set last_block_id = (select coalesce(max(block_id), 0) from content_blocks);
