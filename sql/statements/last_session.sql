select session_id
from sessions
where started_at is not null
order by ended_at desc, session_id
limit 1
