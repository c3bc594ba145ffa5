-- Failed calls made again unchanged
-- How to read: the same call failed again although nothing had been changed since it failed, and nobody had said anything; cost_usd is that of responses that did nothing else.
-- Group: waste
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: repeated_count
select
    name,
    what,
    count(*) as repeated_count,
    round(sum(cost_usd), 4) as cost_usd,
    max(substr(error, 1, 300)) as error,
    min(called_at) as first_called_at,
    project,
    session_id
from repeated_calls
where kind = 'retry'
    and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and coalesce(called_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
group by session_id, agent_run_id, name, what
order by repeated_count desc, first_called_at desc, session_id, name, what
limit coalesce(nullif(:limit, ''), 20);
