-- The further lines of a message.
select
    message_copies.message_id, message_copies.file_id, message_copies.line_number, message_copies.byte_offset,
    message_copies.byte_length, message_copies.session_id, message_copies.content_hash, message_copies.sent_at,
    message_copies.forked_from_session_id
from message_copies
where message_copies.message_id = ?1
