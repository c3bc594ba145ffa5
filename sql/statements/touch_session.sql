insert or ignore into touched_sessions (session_id)
values (?1)
