delete from git_operations
where tool_result_id in (select tool_result_id from tool_results where message_id = ?1)
