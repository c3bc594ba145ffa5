insert into archive_chunks (file_id, position, byte_offset, byte_length, content, content_hash)
values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict (file_id, position) do update
set byte_length = excluded.byte_length, content = excluded.content, content_hash = excluded.content_hash
