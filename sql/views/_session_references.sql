create view _session_references as
-- One row per session that a row or a file names. What a session says of another one is derived from these rows.
select session_id from files where session_id is not null
union
select session_id from agents where session_id is not null
union
select session_id from agent_links where session_id is not null
union
select session_id from messages where session_id is not null
union
select session_id from message_copies where session_id is not null
union
select session_id from events where session_id is not null
union
select session_id from queue_entries where session_id is not null
union
select session_id from task_notifications where session_id is not null
union
select session_id from file_backups where session_id is not null
union
select session_id from history_prompts where session_id is not null
union
select session_id from todos where session_id is not null
union
select session_id from tool_result_files where session_id is not null
union
select session_id from agent_metas where session_id is not null
union
select session_id from workflow_runs where session_id is not null
union
select session_id from session_hints where session_id is not null
union
select session_id from session_facets where session_id is not null
union
select session_id from session_metas where session_id is not null
union
select session_id from api_responses where session_id is not null
union
select session_id from usage_lines where session_id is not null;
