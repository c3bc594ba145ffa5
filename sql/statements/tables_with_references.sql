-- Tables whose columns reference others.
select distinct tables.name
from sqlite_schema as tables
join pragma_foreign_key_list(tables.name)
where tables.type = 'table'
