-- The true path of a project: the working directory its earliest session began in, as far as the folder is named for it.
update projects
set path = (
    select project_path(sessions.start_cwd, projects.directory_name)
    from sessions
    where sessions.project_id = projects.project_id
        and project_path(sessions.start_cwd, projects.directory_name) is not null
    order by sessions.started_at, sessions.session_id
    limit 1
)
where project_id in (
    select sessions.project_id from touched_sessions join sessions using (session_id)
);

update projects
set name = coalesce(last_part(path), directory_name)
where project_id in (
    select sessions.project_id from touched_sessions join sessions using (session_id)
);
