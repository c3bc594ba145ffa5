create view _search_texts as
-- One row per block, with the text that the table `search` indexes, truncated to 1,000,000 characters. This view alone
-- defines what can be found; the index is rebuilt when the view changes.
select
    content_blocks.block_id,
    content_blocks.message_id,
    substr(coalesce(
        content_blocks.text,
        tool_uses.command,
        -- Only with `sync --index-tool-output`.
        case when exists (select 1 from settings where setting = 'index_tool_output') then tool_results.content end
    ), 1, 1000000) as text
from content_blocks
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join tool_results on tool_results.block_id = content_blocks.block_id;
