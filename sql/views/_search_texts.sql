create view _search_texts as
-- One row per block; `text` is what the table `search` finds it by: the first 1,000,000 characters. This view alone decides
-- what can be searched: the index is filled from it, and again when the view changes.
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
