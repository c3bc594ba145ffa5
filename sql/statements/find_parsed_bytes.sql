-- How much of a file has become rows.
select parsed_bytes
from files
where file_id = ?1
