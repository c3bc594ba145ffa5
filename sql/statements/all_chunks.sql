select files.path, files.generation, archive_chunks.position, archive_chunks.byte_length, archive_chunks.content,
    archive_chunks.content_hash
from archive_chunks
join files using (file_id)
order by files.path, files.generation, archive_chunks.position
