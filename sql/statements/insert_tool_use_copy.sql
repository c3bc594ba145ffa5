insert into tool_use_copies (block_id, tool_use_id)
values (?1, ?2)
