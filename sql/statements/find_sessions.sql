-- The sessions whose id begins so.
select session_id
from sessions
where substr(session_id, 1, length(?1)) = ?1
order by session_id
