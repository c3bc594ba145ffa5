insert into sync_runs (
    version, file_count, changed_file_count, read_bytes, line_count, message_count, copy_count, event_count,
    rejected_count, unreadable_count, started_at, finished_at
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
