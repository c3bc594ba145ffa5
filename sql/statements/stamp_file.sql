-- What the file system said of a file that is read to its end.
update files
set modified_ns = ?2, changed_ns = ?3, device = ?4, inode = ?5, is_racy = ?6, missing_since = null
where file_id = ?1
