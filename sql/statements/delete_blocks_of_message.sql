delete from content_blocks
where message_id = ?1
