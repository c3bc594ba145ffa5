-- Every version of every file, as the archive has it.
select file_id, source_id, path, path_bytes, generation, size_bytes
from files
order by file_id
