create view agent_costs as
-- One row per type of agent and machine; the session itself has the type 'main'.
select
    case
        when response_costs.agent_run_id is null then 'main'
        else coalesce(agents.agent_type, 'unknown')
    end as agent_type,
    response_costs.machine,
    count(distinct response_costs.agent_run_id) as agent_count,
    count(*) as response_count,
    sum(response_costs.input_tokens) as input_tokens,
    sum(response_costs.output_tokens) as output_tokens,
    sum(response_costs.cache_write_tokens) as cache_write_tokens,
    sum(response_costs.cache_read_tokens) as cache_read_tokens,
    round(sum(response_costs.cost_usd), 6) as cost_usd,
    round(sum(response_costs.estimated_cost_usd), 6) as estimated_cost_usd,
    sum(response_costs.cost_usd is null) as unpriced_count
from response_costs
left join agents on agents.agent_run_id = response_costs.agent_run_id
group by 1, response_costs.machine;
