delete from tool_uses
where message_id = ?1
