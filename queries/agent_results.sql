-- Sub-agents: what they cost and what they returned
-- How to read: those without a result first, then those whose result cost most for its length. The cost is without that of agents they started themselves.
-- Group: waste
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: cost_usd
select
    started_at,
    agent_type,
    description,
    outcome,
    result_length,
    round(cost_usd, 4) as cost_usd,
    project,
    session_id
from agent_returns
where cost_usd > 0
    and (is_without_result or result_length > 0)
    and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and coalesce(started_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
order by is_without_result desc, cost_usd / coalesce(result_length, 1) desc, started_at, session_id, agent_id
limit coalesce(nullif(:limit, ''), 20);
