create view session_costs as
-- One row per session, its agents included, and one per machine for responses without a session: together they are all costs.
-- The view session_overview shows them beside what happened in the session.
select
    response_costs.session_id,
    projects.name as project,
    response_costs.machine,
    sessions.title,
    count(*) as response_count,
    sum(response_costs.input_tokens) as input_tokens,
    sum(response_costs.output_tokens) as output_tokens,
    sum(response_costs.cache_write_tokens) as cache_write_tokens,
    sum(response_costs.cache_read_tokens) as cache_read_tokens,
    sum(response_costs.total_tokens) as total_tokens,
    round(sum(response_costs.cost_usd), 6) as cost_usd,
    round(sum(response_costs.estimated_cost_usd), 6) as estimated_cost_usd,
    round(sum(case when response_costs.agent_run_id is not null then response_costs.cost_usd end), 6) as agent_cost_usd,
    round(sum(response_costs.cache_savings_usd), 6) as cache_savings_usd, -- against the same prompts without a cache
    sum(response_costs.cost_usd is null) as unpriced_count,
    min(response_costs.response_date) as first_response_date, -- local
    max(response_costs.response_date) as last_response_date,
    min(response_costs.responded_at) as first_responded_at,
    max(response_costs.responded_at) as last_responded_at
from response_costs
left join sessions on sessions.session_id = response_costs.session_id
left join projects on projects.project_id = sessions.project_id
group by response_costs.session_id, response_costs.machine;
