-- The newest version of every file of a home.
select
    file_id, path, generation, size_bytes, archived_bytes, parsed_bytes, newline_count, blank_line_count,
    modified_ns, changed_ns, device, inode, is_racy, missing_since is not null as is_missing
from files
where source_id = ?1 and is_current = 1
