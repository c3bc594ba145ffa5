select agent_key, agent_id, agent_type, description, status, spawned_by_tool_use_id
from agents
where session_id = :session
    and spawned_by_tool_use_id is not null
order by started_at, agent_id
