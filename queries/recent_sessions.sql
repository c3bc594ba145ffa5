-- Recent sessions of a project
-- How to read: newest first; the duration is from the first to the last message, pauses included.
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
select started_at, project, title, first_prompt, prompt_count, tool_call_count, lines_added, lines_removed, duration_s, session_id
from session_overview
where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
order by started_at desc, session_id
limit coalesce(nullif(:limit, ''), 20);
