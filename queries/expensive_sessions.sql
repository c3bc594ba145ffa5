-- Most expensive sessions
-- How to read: agents included; agent_cost_usd is their part.
-- :since - first day, like 2026-09-01; all days without it
-- :until - last day; all days without it
-- :limit - rows to show; 20 without it
-- Bar: cost_usd
select title, project, response_count, output_tokens, agent_cost_usd, cost_usd, first_responded_at, session_id
from session_costs
where first_responded_at >= coalesce(nullif(:since, ''), '0000')
    and first_responded_at <= coalesce(nullif(:until, ''), '9999') || 'T99'
order by cost_usd desc, session_id
limit coalesce(nullif(:limit, ''), 20);
