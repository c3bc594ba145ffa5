delete from tool_results
where message_id = ?1
