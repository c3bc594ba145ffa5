select
    sessions.session_id, projects.name as project, sessions.title, sessions.first_prompt, sessions.git_branch,
    sessions.version, sessions.started_at, sessions.ended_at
from sessions
left join projects using (project_id)
where sessions.session_id = :session
