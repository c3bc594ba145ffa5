-- Cost of pull requests
-- How to read: the sessions that name the pull request; a session that names two counts for both.
-- Group: cost
-- Bar: cost_usd
select
    max(pr_repository) as pr_repository,
    max(pr_number) as pr_number,
    sum(session_count) as session_count,
    sum(response_count) as response_count,
    round(sum(cost_usd), 6) as cost_usd,
    min(first_responded_at) as first_responded_at,
    max(last_responded_at) as last_responded_at,
    pr_url
from pull_request_costs
group by pr_url
order by cost_usd desc, pr_url;
