-- The size of a file that is only counted.
update files
set size_bytes = ?2
where file_id = ?1
