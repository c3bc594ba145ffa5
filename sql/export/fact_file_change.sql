-- One row per file changed by a tool call.
-- Key: tool_use_id, file_path
-- Time: changed_at
-- Columns:
--   machine name
--   tool_use_id id
--   file_path path
--   session_id id
--   agent_id id
--   project name
--   git_branch name
--   model word
--   tool_name word
--   kind word
--   outcome_group word
--   lines_added integer
--   lines_removed integer
--   line_count_source word
--   is_user_modified boolean
--   day date
--   local_day date
--   changed_at timestamp
with machines as materialized (
    select * from _session_machines
)

select
    coalesce(
        machines.machine,
        (
            select _machines.machine
            from messages
            cross join files on files.file_id = messages.file_id
            cross join _machines on _machines.source_id = files.source_id
            where messages.message_id = tool_calls.message_id
        )
    ) as machine,
    file_changes.tool_use_id,
    file_changes.file_path,
    tool_calls.session_id,
    agents.agent_id,
    projects.name as project,
    tool_calls.git_branch,
    tool_calls.model,
    tool_calls.name as tool_name,
    file_changes.kind,
    tool_calls.outcome_group,
    file_changes.lines_added,
    file_changes.lines_removed,
    file_changes.line_count_source,
    file_changes.is_user_modified,
    substr(tool_calls.called_at, 1, 10) as day,
    tool_calls.called_date as local_day,
    tool_calls.called_at as changed_at
-- In the order of the table, in which calls and messages are too.
from file_changes not indexed
join tool_calls on tool_calls.tool_use_id = file_changes.tool_use_id
left join machines on machines.session_id = tool_calls.session_id
left join agents on agents.agent_run_id = tool_calls.agent_run_id
left join sessions on sessions.session_id = tool_calls.session_id
left join projects on projects.project_id = sessions.project_id
order by 1, tool_calls.called_at, file_changes.tool_use_id, file_changes.file_path;
