update files
set missing_since = coalesce(missing_since, ?2)
where file_id = ?1
