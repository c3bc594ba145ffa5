-- All sessions, as a table
-- How to read: newest first; tokens and prompts include those of agents only where the column says so.
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
select started_at, project, title, git_branch, models, prompt_count, message_count, tool_call_count, agent_count,
    changed_file_count, output_tokens, duration_s, session_id
from session_overview
where coalesce(started_date, '0000') >= coalesce(nullif(:since, ''), '0000')
    and coalesce(started_date, '0000') <= coalesce(nullif(:until, ''), '9999')
order by started_at desc, session_id;
