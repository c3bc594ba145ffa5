-- An answer that came before its call.
select tool_result_id
from tool_results
where source_tool_use_id = ?1 and tool_use_id is null
