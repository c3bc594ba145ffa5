-- Commands that fail in every session
-- How to read: commands that failed in two sessions of a project or more, each time with the same error, and never worked. cost_usd is that of responses that did nothing else. A line in CLAUDE.md prevents the next failure.
-- Group: waste
-- :since first_day - first local day of the last failure, like 2026-09-01; all days without it
-- :until last_day - last local day of the first failure; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: failed_count
select command, failed_count, session_count, total_duration_ms, round(cost_usd, 4) as cost_usd, substr(error, 1, 300) as error, last_failed_at, project, session_id
from command_failures
where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and coalesce(last_failed_date, '9999') >= coalesce(nullif(:since, ''), '0000')
    and coalesce(first_failed_date, '0000') <= coalesce(nullif(:until, ''), '9999')
order by failed_count desc, last_failed_at desc, project, command
limit coalesce(nullif(:limit, ''), 20);
