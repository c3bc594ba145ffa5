-- One row per type of agent, layout and state: how many ran, and when.
-- Reads: owned_agent
select
    coalesce(owned_agent.agent_type, 'unknown') as agent_type,
    owned_agent.layout,
    owned_agent.status,
    count(*) as agent_count,
    count(distinct owned_agent.session_id) as session_count,
    count(owned_agent.spawned_by_tool_use_id) as linked_count,
    min(owned_agent.started_at) as first_started_at,
    max(owned_agent.ended_at) as last_ended_at
from owned_agent
group by coalesce(owned_agent.agent_type, 'unknown'), owned_agent.layout, owned_agent.status
