-- name: all_chunks
select files.path, files.generation, archive_chunks.position, archive_chunks.byte_length, archive_chunks.content,
    archive_chunks.content_hash
from archive_chunks
join files using (file_id)
order by files.path, files.generation, archive_chunks.position

-- name: all_chunk_hashes
select file_id, content_hash
from archive_chunks
order by file_id, position

-- name: find_chunk
select content, byte_length
from archive_chunks
where file_id = ?1 and position = ?2

-- name: find_chunk_hashes
select byte_length, content_hash
from archive_chunks
where file_id = ?1
order by position

-- name: upsert_chunk
-- Inserts a chunk, or replaces the one with the hash ?7, with which it begins. Otherwise no row changes.
insert into archive_chunks (file_id, position, byte_offset, byte_length, content, content_hash)
values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict (file_id, position) do update
set byte_length = excluded.byte_length, content = excluded.content, content_hash = excluded.content_hash
where archive_chunks.byte_length <= excluded.byte_length and archive_chunks.content_hash = ?7
