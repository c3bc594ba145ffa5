-- name: all_running_hashes
select file_id, path, generation, archived_hash
from files
order by path, generation

-- name: archived_files
-- Every version of every file, as the archive has it.
select file_id, source_id, path, path_bytes, generation, archived_bytes
from files
where not (kind = 'other' and archived_bytes = 0)
order by file_id

-- name: count_archived_bytes
select coalesce(sum(archived_bytes), 0)
from files

-- name: delete_incomplete_tail
delete from rejected_lines
where file_id = ?1 and reason = 'incomplete_tail'

-- name: files_to_restore
-- The files to write back, with those of the sessions named in a JSON list, or all.
select
    files.file_id, files.path, files.path_bytes, files.generation, files.archived_bytes, files.modified_ns,
    files.is_current, sources.source_id, sources.machine, sources.root_path
from files
join sources using (source_id)
where not (files.kind = 'other' and files.archived_bytes = 0)
    and (?1 is null or exists (
        select 1
        from json_each(?1) as wanted
        where files.session_id = wanted.value
            or exists (
                select 1
                from messages
                where messages.file_id = files.file_id and messages.session_id = wanted.value
            )
    ))
order by sources.source_id, files.path, files.generation

-- name: file_versions
-- Every version of the files of a home.
select
    file_id, path, path_bytes, generation, archived_bytes, archived_hash, parsed_bytes, newline_count, blank_line_count,
    modified_ns, changed_ns, device, inode, is_racy, first_seen_at, missing_since, size_bytes
from files
where source_id = ?1
order by path, generation

-- name: find_archived_bytes
-- How much of a file is archived, its running hash, and how much of it became rows.
select archived_bytes, archived_hash, parsed_bytes, newline_count, blank_line_count
from files
where file_id = ?1

-- name: find_file
-- A file version and the home it is from.
select files.path, sources.machine_id, sources.root_path, files.generation, files.source_id
from files
join sources using (source_id)
where files.file_id = ?1

-- name: find_file_version
select file_id
from files
where source_id = ?1 and path = ?2 and generation = ?3

-- name: find_parsed_bytes
-- How much of a file has become rows.
select parsed_bytes
from files
where file_id = ?1

-- name: find_project
select project_id
from projects
where directory_name = ?1

-- name: insert_project
insert into projects (project_id, directory_name, name)
values (?1, ?2, ?2)

-- name: find_unfinished
-- A file version whose last line was archived and did not become rows, since the sync that read it was cut short.
select source_id, path, archived_bytes, parsed_bytes, newline_count, blank_line_count
from files
where file_id = ?1
    and parsed_bytes < archived_bytes
    and not exists (
        select 1
        from rejected_lines
        where rejected_lines.file_id = files.file_id and reason = 'incomplete_tail'
    )

-- name: known_files
-- The newest version of every file. Nearly all files are: an index would only lead to each of them one by one.
select
    source_id, path, file_id, generation, size_bytes, archived_bytes, parsed_bytes, newline_count, blank_line_count,
    modified_ns, changed_ns, device, inode, is_racy, missing_since is not null as is_missing, archived_hash
from files not indexed
where is_current = 1

-- name: list_pieces
-- The offset of every record and every rejected fragment of a file; the bytes of a fragment, and whether it is a line that the
-- program failed on.
select byte_offset, null as raw, 0 as is_failed from messages where file_id = ?1
union all
select byte_offset, null, 0 from message_copies where file_id = ?1
union all
select byte_offset, null, 0 from events where file_id = ?1
union all
select byte_offset, null, 0 from history_prompts where file_id = ?1
union all
select byte_offset, raw, reason = 'internal_error' from rejected_lines where file_id = ?1

-- name: mark_missing
update files
set missing_since = coalesce(missing_since, ?2)
where file_id = ?1

-- name: paths_with_backslashes
select file_id, coalesce(path_bytes, cast(path as blob))
from files
where instr(path, '\') > 0

-- name: retire_file_versions
-- The generations of a file before this one.
update files
set is_current = 0
from files as newest
where newest.file_id = ?1
    and files.source_id = newest.source_id
    and files.path = newest.path
    and files.generation < newest.generation
    and files.is_current = 1

-- name: set_path
update files
set path = ?2, path_bytes = ?3
where file_id = ?1

-- name: set_archived_hash
update files
set archived_hash = ?2
where file_id = ?1

-- name: stamp_file
-- What the file system said of a file that is read to its end.
update files
set modified_ns = ?2, changed_ns = ?3, device = ?4, inode = ?5, is_racy = ?6, missing_since = null
where file_id = ?1
