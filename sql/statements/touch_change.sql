insert or ignore into touched_changes (tool_use_id)
values (?1)
