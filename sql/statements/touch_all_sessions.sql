insert or ignore into touched_sessions (session_id)
select session_id
from sessions;
