-- The chunks of a file follow each other without a gap and end where the file ends.
with chunks as (
    select
        file_id,
        count(*) as chunk_count,
        max(position) + 1 as expected_count,
        sum(byte_length) as byte_count,
        sum(byte_offset <> position * 1048576) as misplaced_count,
        sum(byte_length <> 1048576) as short_count,
        max(byte_offset + byte_length) as end_offset
    from archive_chunks
    group by file_id
)

select files.path, files.generation, files.archived_bytes, chunks.byte_count
from files
left join chunks using (file_id)
where coalesce(chunks.byte_count, 0) <> files.archived_bytes
    or chunks.chunk_count <> chunks.expected_count
    or chunks.misplaced_count > 0
    or chunks.short_count > 1
    or chunks.end_offset <> files.archived_bytes
    or files.parsed_bytes > files.archived_bytes
