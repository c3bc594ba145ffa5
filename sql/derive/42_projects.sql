-- The real path of a project: a directory entered by /cd, else the start of its earliest session, else what an index or the
-- history says; only paths that encode to the folder's name.
insert into touched_projects (project_id)
select sessions.project_id
from touched_sessions
cross join sessions using (session_id)
where sessions.project_id is not null;

create temp table project_paths as
select project_id, path, original_cwd
from (
    select
        told.project_id, told.original_cwd,
        project_path(told.path, projects.directory_name) as path,
        row_number() over (
            partition by told.project_id
            order by
                project_path(told.path, projects.directory_name) is null, told.step,
                told.told_at is null, told.told_at, told.session_id, told.path
        ) as place
    from (
        select sessions.project_id, sessions.session_id, sessions.relocated_cwd as path, sessions.original_cwd,
            1 as step, sessions.started_at as told_at
        from (select distinct project_id from touched_projects) as touched_projects
        cross join sessions using (project_id)
        union all
        select sessions.project_id, sessions.session_id, sessions.start_cwd, sessions.original_cwd, 2, sessions.started_at
        from (select distinct project_id from touched_projects) as touched_projects
        cross join sessions using (project_id)
        union all
        select sessions.project_id, sessions.session_id, session_hints.project_path, sessions.original_cwd, 3,
            sessions.started_at
        from (select distinct project_id from touched_projects) as touched_projects
        cross join sessions using (project_id)
        cross join session_hints using (session_id)
        union all
        select sessions.project_id, sessions.session_id, history_prompts.project_path, sessions.original_cwd, 4,
            history_prompts.prompted_at
        from (select distinct project_id from touched_projects) as touched_projects
        cross join sessions using (project_id)
        cross join history_prompts using (session_id)
    ) as told
    join projects using (project_id)
    where told.path is not null
)
where place = 1;

create temp table project_names as
select
    projects.project_id,
    project_paths.path,
    repository_path(project_paths.path, project_paths.original_cwd) as repository_path,
    coalesce(
        last_part(coalesce(repository_path(project_paths.path, project_paths.original_cwd), project_paths.path)),
        projects.directory_name
    ) as name
from projects
left join project_paths using (project_id)
where projects.project_id in (select project_id from touched_projects);

-- Update the rows that show the name of a renamed project.
insert or ignore into touched_sessions (session_id)
select sessions.session_id
from project_names
join projects using (project_id)
join sessions using (project_id)
where project_names.name is not projects.name;

-- A prompt of history.jsonl finds its project by the path.
insert or ignore into touched_said_sessions (session_id)
select history_prompts.session_id
from project_names
join projects using (project_id)
join history_prompts on history_prompts.project_path in (project_names.path, projects.path)
where history_prompts.session_id is not null
    and (project_names.path is not projects.path or project_names.name is not projects.name);

update projects
set
    path = project_names.path,
    repository_path = project_names.repository_path,
    name = project_names.name
from project_names
where project_names.project_id = projects.project_id;

drop table project_names;
drop table project_paths;
drop table touched_projects;
