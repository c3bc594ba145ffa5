select unknown_kinds.first_version, files.path, unknown_kinds.line_number
from unknown_kinds
join files using (file_id)
where level = ?1 and name = ?2
