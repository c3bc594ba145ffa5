-- The newest version of every file. Nearly all files are: an index would only lead to each of them one by one.
select
    source_id, path, file_id, generation, size_bytes, archived_bytes, parsed_bytes, newline_count, blank_line_count,
    modified_ns, changed_ns, device, inode, is_racy, missing_since is not null as is_missing
from files not indexed
where is_current = 1
