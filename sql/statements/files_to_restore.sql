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
