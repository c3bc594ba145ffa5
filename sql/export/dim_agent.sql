-- One row per sub-agent run.
-- Key: session_id, agent_id
-- Columns:
--   machine name
--   session_id id
--   agent_id id
--   agent_type name
--   name name
--   team_name name
--   model word
--   layout word
--   internal_kind word
--   parent_agent_id id
--   spawned_by_tool_use_id id
--   link_method word
--   link_confidence word
--   workflow_id id
--   status word
--   spawn_depth integer
--   is_fork boolean
--   started_at timestamp
--   ended_at timestamp
--   description content
with machines as materialized (
    select * from _session_machines
)

select
    coalesce(
        machines.machine,
        (
            select min(_machines.machine)
            from files
            join _machines using (source_id)
            where files.session_id = agents.session_id
        ),
        (select min(_machines.machine) from _machines)
    ) as machine,
    agents.session_id,
    agents.agent_id,
    agents.agent_type,
    agents.name,
    agents.team_name,
    agents.model,
    agents.layout,
    agents.internal_kind,
    parents.agent_id as parent_agent_id,
    agents.spawned_by_tool_use_id,
    agents.link_method,
    agents.link_confidence,
    agents.workflow_id,
    agents.status,
    agents.spawn_depth,
    agents.is_fork,
    agents.started_at,
    agents.ended_at,
    agents.description
from agents
left join agents as parents on parents.agent_run_id = agents.parent_agent_run_id
left join machines on machines.session_id = agents.session_id
order by 1, agents.session_id, agents.agent_id;
