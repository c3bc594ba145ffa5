select byte_length, content_hash
from archive_chunks
where file_id = ?1
order by position
