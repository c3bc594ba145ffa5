select source_tool_use_id
from tool_results
where message_id = ?1 and source_tool_use_id is not null
