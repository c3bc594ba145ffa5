-- One row per folder under projects/ that a machine has.
-- Key: project_directory
-- Columns:
--   machine name
--   project_directory path
--   project name
--   repository_path path
--   path path
select
    homes.machine,
    projects.directory_name as project_directory,
    projects.name as project,
    projects.repository_path,
    projects.path
from projects
join (
    select distinct files.project_id, _machines.machine
    from files
    join _machines using (source_id)
    where files.project_id is not null
) as homes on homes.project_id = projects.project_id
order by 1, projects.directory_name;
