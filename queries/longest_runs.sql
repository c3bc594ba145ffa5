-- Prompts that led to the longest runs
-- How to read: how much work followed one prompt.
-- Group: conversation
-- :limit number - rows to show; 20 without it
-- Bar: tool_call_count
select turns.started_at, projects.name as project, turns.prompt, turns.response_count, turns.tool_call_count,
    coalesce(turns.recorded_duration_ms, turns.duration_ms) as duration_ms, turns.is_interrupted, turns.session_id
from turns
left join sessions on sessions.session_id = turns.session_id
left join projects on projects.project_id = sessions.project_id
order by turns.tool_call_count desc, turns.response_count desc, turns.session_id, turns.turn_number
limit coalesce(nullif(:limit, ''), 20);
