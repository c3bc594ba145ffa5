delete from tool_use_copies
where block_id = ?1
