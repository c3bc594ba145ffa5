delete from message_copies
where message_id = ?1
