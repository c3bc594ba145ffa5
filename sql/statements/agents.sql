-- name: find_agent
select agent_run_id
from agents
where session_id = ?1 and agent_id = ?2

-- name: upsert_agent
insert into agents (agent_run_id, session_id, agent_id, layout, workflow_id, link_method, link_confidence)
values (?1, ?2, ?3, ?4, ?5, 'none', 'none')
on conflict (session_id, agent_id) do update
set
    layout = case
        when instr('inline flat nested workflow', coalesce(excluded.layout, '-'))
            > instr('inline flat nested workflow', coalesce(layout, '-'))
            then excluded.layout
        else layout
    end,
    workflow_id = coalesce(min(workflow_id, excluded.workflow_id), workflow_id, excluded.workflow_id)
