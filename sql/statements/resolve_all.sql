-- Nothing is in the search yet, and nothing is counted.
update indexed_blocks
set last_block_id = 0;

update counted_rows
set last_message_id = 0, last_api_response_id = 0;
