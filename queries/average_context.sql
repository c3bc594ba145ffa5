-- How large the context is
-- How to read: the tokens that a request sent, cached or not, outside of sub-agents; every request pays for all of them.
-- Group: cache
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- Bar: mean_context_tokens
select
    project,
    model,
    count(*) as response_count,
    cast(round(avg(context_tokens)) as integer) as mean_context_tokens,
    max(context_tokens) as max_context_tokens,
    round(sum(cost_usd) / nullif(count(cost_usd), 0), 4) as mean_cost_usd
from response_costs
where agent_run_id is null
    and context_tokens > 0
    and coalesce(response_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
group by project, model
order by mean_context_tokens desc, project, model;
