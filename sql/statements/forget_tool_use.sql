-- A tool call that no message holds any more.
update tool_results
set tool_use_id = null
where tool_use_id = ?1
