create view pull_request_costs as
-- One row per pull request and machine: the cost of the sessions that name it. A session that names two counts for both.
with links as (
    select
        events.session_id,
        json_extract(events.payload_json, '$.prUrl') as pr_url,
        max(json_extract(events.payload_json, '$.prRepository')) as pr_repository,
        max(json_extract(events.payload_json, '$.prNumber')) as pr_number
    from events
    where events.type = 'pr-link'
    group by 1, 2
)

select
    max(links.pr_repository) as pr_repository,
    max(links.pr_number) as pr_number,
    links.pr_url,
    session_costs.machine,
    count(distinct links.session_id) as session_count,
    sum(session_costs.response_count) as response_count,
    round(sum(session_costs.cost_usd), 6) as cost_usd,
    round(sum(session_costs.estimated_cost_usd), 6) as estimated_cost_usd,
    sum(session_costs.unpriced_count) as unpriced_count,
    min(session_costs.first_responded_at) as first_responded_at,
    max(session_costs.last_responded_at) as last_responded_at
from links
left join session_costs on session_costs.session_id = links.session_id
group by links.pr_url, session_costs.machine;
