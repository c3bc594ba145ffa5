-- A file version and the home it is from.
select files.path, sources.machine, sources.root_path, files.generation, files.source_id
from files
join sources using (source_id)
where files.file_id = ?1
