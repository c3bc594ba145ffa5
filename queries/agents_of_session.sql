-- The agents of a session, as a tree
-- How to read: each agent is indented under its parent, with its status.
-- Group: conversation
-- :session - start of a session id; the session with the most agents without it
with chosen as (
    select session_id
    from agents
    where session_id like coalesce(nullif(:session, ''), '') || '%'
    group by session_id
    order by count(*) desc, session_id
    limit 1
)

select indented_type, description, status, message_count, tool_call_count, output_tokens, link_method, started_at, agent_id
from agent_tree
where session_id = (select session_id from chosen)
order by place;
