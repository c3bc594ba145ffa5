-- Rows of a table whose reference has no target.
select count(*)
from pragma_foreign_key_check(?1)
