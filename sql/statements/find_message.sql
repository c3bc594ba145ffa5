-- The line that a message was taken from.
select
    messages.message_id, messages.file_id, messages.line_number, messages.byte_offset, messages.byte_length,
    messages.session_id, messages.content_hash, messages.sent_at,
    messages.forked_from_session_id
from messages
where messages.message_id = ?1
