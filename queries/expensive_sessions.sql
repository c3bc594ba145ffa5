-- Most expensive sessions
-- How to read: sub-agents included; agent_cost_usd is their share.
-- Group: cost
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :limit number - rows to show; 20 without it
-- Bar: cost_usd
-- Chart: bars title cost_usd
select title, project, response_count, output_tokens, agent_cost_usd, cost_usd, first_responded_at, session_id
from session_costs
where first_response_date >= coalesce(nullif(:since, ''), '0000')
    and first_response_date <= coalesce(nullif(:until, ''), '9999')
order by cost_usd desc, session_id
limit coalesce(nullif(:limit, ''), 20);
