select message_id
from messages
where uuid = ?1
