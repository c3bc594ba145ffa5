insert into told_sessions (session_id, has_git_branch, has_version, has_entrypoint, has_slug, has_guests)
values (?1, ?2, ?3, ?4, ?5, ?6)
