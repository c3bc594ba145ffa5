-- Every version of every file, as the archive has it.
select file_id, source_id, path, path_bytes, generation, archived_bytes
from files
where not (kind = 'other' and archived_bytes = 0)
order by file_id
