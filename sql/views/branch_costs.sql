create view branch_costs as
-- One row per project, git branch and machine.
select
    projects.name as project,
    nullif(messages.git_branch, '') as git_branch,
    response_costs.machine,
    count(distinct response_costs.session_id) as session_count,
    count(*) as response_count,
    sum(response_costs.output_tokens) as output_tokens,
    round(sum(response_costs.cost_usd), 6) as cost_usd,
    round(sum(response_costs.estimated_cost_usd), 6) as estimated_cost_usd,
    sum(response_costs.cost_usd is null) as unpriced_count,
    min(response_costs.responded_at) as first_responded_at,
    max(response_costs.responded_at) as last_responded_at
from response_costs
left join messages on messages.message_id = response_costs.message_id
left join sessions on sessions.session_id = response_costs.session_id
left join projects on projects.project_id = sessions.project_id
group by 1, 2, response_costs.machine;
