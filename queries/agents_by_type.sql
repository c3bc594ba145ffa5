-- Sub-agents by type and cost
-- How to read: the type main is the session itself.
-- Group: tools
-- Bar: cost_usd
-- Total: agent_count, response_count, output_tokens, cost_usd
select
    agent_type,
    sum(agent_count) as agent_count,
    sum(response_count) as response_count,
    sum(output_tokens) as output_tokens,
    round(sum(cost_usd), 6) as cost_usd,
    round(sum(cost_usd) / nullif(sum(agent_count), 0), 4) as cost_per_agent_usd
from agent_costs
group by agent_type
order by cost_usd desc, agent_type;
