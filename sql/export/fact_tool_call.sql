-- One row per tool call, with its result.
-- Key: tool_use_id
-- Time: called_at
-- Columns:
--   machine name
--   tool_use_id id
--   session_id id
--   agent_id id
--   uuid id
--   project name
--   git_branch name
--   version word
--   model word
--   tool_name word
--   mcp_server word
--   subagent_type name
--   skill name
--   outcome word
--   outcome_group word
--   exit_code integer
--   result_bytes integer
--   duration_ms integer
--   run_ms integer
--   day date
--   local_day date
--   called_at timestamp
--   answered_at timestamp
--   command content
--   file_path content
--   pattern content
--   url content
--   query content
--   description content
--   denial_reason content
--   input_json content
--   result content
with machines as materialized (
    select * from _session_machines
),

-- Sorted without the long texts.
calls as materialized (
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
        tool_calls.tool_use_id, tool_calls.session_id, tool_calls.agent_run_id, tool_calls.message_id,
        tool_calls.git_branch, tool_calls.version, tool_calls.model, tool_calls.name, tool_calls.mcp_server,
        tool_calls.subagent_type, tool_calls.skill, tool_calls.outcome, tool_calls.outcome_group, tool_calls.exit_code,
        tool_calls.result_bytes, tool_calls.duration_ms, tool_calls.run_ms, tool_calls.called_date, tool_calls.called_at,
        tool_calls.answered_at
    from tool_calls
    left join machines on machines.session_id = tool_calls.session_id
    order by 1, tool_calls.called_at, tool_calls.tool_use_id
)

select
    calls.machine,
    calls.tool_use_id,
    calls.session_id,
    agents.agent_id,
    messages.uuid,
    projects.name as project,
    calls.git_branch,
    calls.version,
    calls.model,
    calls.name as tool_name,
    calls.mcp_server,
    calls.subagent_type,
    calls.skill,
    calls.outcome,
    calls.outcome_group,
    calls.exit_code,
    calls.result_bytes,
    calls.duration_ms,
    calls.run_ms,
    substr(calls.called_at, 1, 10) as day,
    calls.called_date as local_day,
    calls.called_at,
    calls.answered_at,
    tool_uses.command,
    tool_uses.file_path,
    tool_uses.pattern,
    tool_uses.url,
    tool_uses.query,
    tool_uses.description,
    tool_results.denial_reason,
    tool_uses.input_json,
    tool_results.content as result
from calls
left join agents on agents.agent_run_id = calls.agent_run_id
left join messages on messages.message_id = calls.message_id
left join sessions on sessions.session_id = calls.session_id
left join projects on projects.project_id = sessions.project_id
left join tool_uses on tool_uses.tool_use_id = calls.tool_use_id
left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id;
