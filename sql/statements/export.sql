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
