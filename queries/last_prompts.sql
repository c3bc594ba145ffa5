-- Latest prompts
-- How to read: newest first; prompts, commands, replies and reasons, whichever file they were found in.
-- Group: conversation
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
select prompts.said_at, projects.name as project, prompts.kind, prompts.text, prompts.session_id
from prompts
left join sessions on sessions.session_id = prompts.session_id
left join projects on projects.project_id = sessions.project_id
where coalesce(projects.name, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
order by prompts.said_at desc, prompts.session_id, prompts.text, prompts.kind
limit coalesce(nullif(:limit, ''), 20);
