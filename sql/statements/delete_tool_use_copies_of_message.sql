delete from tool_use_copies
where block_id in (select block_id from content_blocks where message_id = ?1)
