-- However costs are grouped, their sum is that of the responses. Views round to a millionth, and floating point to 15 digits.
with sums as (
    select 'daily_costs' as view, sum(cost_usd) as cost_usd, count(*) as row_count from daily_costs
    union all
    select 'session_costs', sum(cost_usd), count(*) from session_costs
    union all
    select 'project_costs', sum(cost_usd), count(*) from project_costs
    union all
    select 'model_costs', sum(cost_usd), count(*) from model_costs
    union all
    select 'agent_costs', sum(cost_usd), count(*) from agent_costs
    union all
    select 'branch_costs', sum(cost_usd), count(*) from branch_costs
),

total as (
    select sum(cost_usd) as cost_usd from response_costs
)

select sums.view, sums.cost_usd, total.cost_usd
from sums, total
where abs(coalesce(sums.cost_usd, 0) - coalesce(total.cost_usd, 0)) > 0.000001 * sums.row_count + 0.000001
    + 1e-9 * abs(coalesce(total.cost_usd, 0))
