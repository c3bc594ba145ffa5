-- Sub-agents by type and cost
-- How to read: the type main is the session itself.
-- Group: cost
-- Bar: cost_usd
-- Total: agent_count, response_count, output_tokens, cost_usd
select agent_type, agent_count, response_count, output_tokens, cost_usd,
    round(cost_usd / nullif(agent_count, 0), 4) as cost_per_agent_usd
from agent_costs
order by cost_usd desc, agent_type;
