-- What was denied, and why
-- How to read: newest first; the reason is what you wrote when you denied the call.
-- Group: feedback
-- :limit number - rows to show; 20 without it
select said_at, kind, tool_name, coalesce(command, file_path) as what, text as reason, model, agent_type, session_id
from feedback
where kind in ('denial', 'plan_rejected')
order by said_at desc, session_id, what, kind, tool_name, reason, model, agent_type
limit coalesce(nullif(:limit, ''), 20);
