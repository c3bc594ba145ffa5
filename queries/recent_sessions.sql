-- Recent sessions
-- How to read: newest first; agents are included; the duration is from the first to the last message, pauses included.
-- Group: cost
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: cost_usd
-- Total: prompt_count, tool_call_count, agent_count, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd
select
    started_at, project, coalesce(title, first_prompt) as title, duration_s, prompt_count, tool_call_count, agent_count, lines_added,
    lines_removed, git_branch, models, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd, session_id
from session_overview
where coalesce(started_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
    and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
order by started_at desc, session_id
limit coalesce(nullif(:limit, ''), 20);
