insert or ignore into touched_tool_uses (tool_use_id)
values (?1)
