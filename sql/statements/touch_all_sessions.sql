insert or ignore into touched_sessions (session_id)
select session_id
from sessions;

update counted_rows
set last_message_id = 0, last_api_response_id = 0;
