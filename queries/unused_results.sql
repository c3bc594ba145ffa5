-- Files and pages that were read and not used
-- How to read: results of 10,000 bytes or more that stayed in the context of later responses; no name in them, such as that of a function or a file, was said, thought or called afterwards.
-- Group: waste
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: result_bytes
select called_at, name, what, result_bytes, later_response_count, project, session_id
from unused_tool_results
where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and coalesce(called_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
order by result_bytes * later_response_count desc, called_at, session_id, name, what
limit coalesce(nullif(:limit, ''), 20);
