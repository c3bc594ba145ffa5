-- All that can be found by its words: the rule of the view search_texts.
select
    content_blocks.block_id,
    substr(coalesce(
        content_blocks.text,
        tool_uses.command,
        case when exists (select 1 from settings where setting = 'index_tool_output') then tool_results.content end
    ), 1, 1000000) as words
from content_blocks
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join tool_results on tool_results.block_id = content_blocks.block_id
where words is not null
