-- What the columns of tables reference.
select tables.name, links."from", links."table", links."to"
from sqlite_schema as tables
join pragma_foreign_key_list(tables.name) as links
where tables.type = 'table'
