create view search_texts as
-- One row per block that can be found by its words; what the table search is an index of. Of a longer text only the first
-- 1,000,000 characters are in it. The same rule stands in sql/statements/search.sql and sql/derive/60_search.sql.
select
    content_blocks.block_id,
    content_blocks.message_id,
    substr(coalesce(
        content_blocks.text,
        tool_uses.command,
        -- With `sync --index-tool-output`.
        case when exists (select 1 from settings where setting = 'index_tool_output') then tool_results.content end
    ), 1, 1000000) as text
from content_blocks
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join tool_results on tool_results.block_id = content_blocks.block_id;
