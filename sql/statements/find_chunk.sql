select content, byte_length
from archive_chunks
where file_id = ?1 and position = ?2
