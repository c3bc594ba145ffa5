-- How much of a file is archived.
select archived_bytes
from files
where file_id = ?1
