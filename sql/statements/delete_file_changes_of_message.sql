delete from file_changes
where tool_use_id in (select tool_use_id from tool_uses where message_id = ?1)
