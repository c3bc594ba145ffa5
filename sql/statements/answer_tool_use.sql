update tool_uses
set tool_result_id = ?2
where tool_use_id = ?1
