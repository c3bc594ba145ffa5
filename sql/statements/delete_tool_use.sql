delete from tool_uses
where tool_use_id = ?1
