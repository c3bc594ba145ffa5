insert or ignore into touched_sessions (session_id)
select session_id
from messages
where message_id = ?1 and session_id is not null
