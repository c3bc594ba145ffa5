-- Files read again unchanged
-- How to read: a session or agent read the same part of a file again, although the same text was still in its context; cost_usd is that of responses that did nothing else.
-- Group: waste
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: result_bytes
select
    what as file_path,
    count(*) as repeated_count,
    sum(result_bytes) as result_bytes,
    round(sum(cost_usd), 4) as cost_usd,
    min(called_at) as first_called_at,
    project,
    session_id
from repeated_calls
where kind = 'read'
    and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and coalesce(called_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
group by session_id, agent_run_id, what
order by sum(result_bytes) desc, first_called_at, session_id, what
limit coalesce(nullif(:limit, ''), 20);
