update files
set is_current = 0
where source_id = ?1 and path = ?2
