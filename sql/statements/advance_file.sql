-- How far a file has been read.
update files
set
    size_bytes = ?2, archived_bytes = ?2, parsed_bytes = ?3, line_count = ?4, newline_count = ?5, blank_line_count = ?6,
    last_synced_at = coalesce(?7, last_synced_at)
where file_id = ?1
