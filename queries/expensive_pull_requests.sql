-- Cost of pull requests
-- How to read: the sessions that name the pull request; a session that names two counts for both.
-- Group: cost
-- Bar: cost_usd
select pr_repository, pr_number, session_count, response_count, cost_usd, first_responded_at, last_responded_at, pr_url
from pull_request_costs
order by cost_usd desc, pr_url;
