-- Cost per day and project
-- How to read: local days; worktrees count for their repository.
-- Group: cost
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- Bar: cost_usd
-- Total: response_count, output_tokens, cost_usd, unpriced_count
select
    activity_date as response_date,
    project,
    count(distinct nullif(session_id, '')) as session_count,
    sum(response_count) as response_count,
    sum(output_tokens) as output_tokens,
    round(sum(cost_usd), 6) as cost_usd,
    sum(unpriced_count) as unpriced_count
from bi_session_days
where coalesce(activity_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
    and project like '%' || coalesce(nullif(:project, ''), '') || '%'
group by activity_date, project
order by activity_date, sum(cost_usd) desc, project;
