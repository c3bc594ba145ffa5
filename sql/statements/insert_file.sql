-- A new version of a file, with nothing of it read yet.
insert into files (
    source_id, project_id, path, path_bytes, kind, session_id, generation,
    size_bytes, archived_bytes, parsed_bytes, line_count, newline_count, blank_line_count,
    modified_ns, changed_ns, device, inode, is_racy, is_current, first_seen_at, last_synced_at
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, ?8, ?8)
on conflict (source_id, path, generation) do nothing
