-- The versions of a file before this one.
update files
set is_current = 0
where source_id = ?1 and path = ?2 and file_id <> ?3 and is_current = 1
