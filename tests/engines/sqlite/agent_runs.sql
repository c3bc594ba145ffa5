select
    coalesce(agent_type, 'unknown') as agent_type,
    layout,
    status,
    count(*) as agent_count,
    count(distinct session_id) as session_count,
    count(spawned_by_tool_use_id) as linked_count,
    min(started_at) as first_started_at,
    max(ended_at) as last_ended_at
from agents
group by 1, 2, 3;
