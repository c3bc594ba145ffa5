-- No block is in the search yet.
update indexed_blocks
set last_block_id = 0;
