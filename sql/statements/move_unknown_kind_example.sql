update unknown_kinds
set file_id = ?3, line_number = ?4
where level = ?1 and name = ?2
