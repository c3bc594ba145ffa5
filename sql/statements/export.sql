-- name: export_paths
-- Paths that show the home directories of people, and how often.
select path, count(*)
from (
    select path from projects
    union all
    select repository_path from projects
    union all
    select start_cwd from sessions
    union all
    select root_path from sources
    union all
    select file_path from file_changes
)
where path is not null
group by path;

-- name: has_relation
select exists (select 1 from sqlite_schema where type in ('table', 'view') and name = ?1);

-- name: list_all_but_tables
-- Statements that drop them. A table is dropped with its triggers, so a trigger comes first.
select format('drop %s "%w"', type, name)
from sqlite_schema
where type in ('trigger', 'view') or sql like 'create virtual table%'
order by type = 'table', type, name;
