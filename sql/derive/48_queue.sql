-- What became of what was queued is decided in Rust (src/load/queue.rs), after this script.
delete from queue_entries
where session_id is null
    or session_id in (select session_id from touched_sessions);
