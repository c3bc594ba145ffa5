update indexed_blocks
set last_block_id = (select coalesce(max(block_id), 0) from content_blocks);
