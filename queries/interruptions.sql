-- What was interrupted
-- How to read: newest first; the tool that was running, if any.
-- Group: feedback
-- :limit number - rows to show; 20 without it
select said_at, project, tool_name, coalesce(command, file_path) as what, model, agent_type, session_id
from feedback
where kind = 'interruption'
order by said_at desc, session_id, what, tool_name, model, agent_type
limit coalesce(nullif(:limit, ''), 20);
