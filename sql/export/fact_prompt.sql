-- One row per input from the person: a prompt, a command, a reply, a reason, a text typed while Claude worked.
-- Key: session_id, prompt_number
-- Time: said_at
-- Columns:
--   machine name
--   session_id id
--   prompt_number integer
--   input_id id
--   kind word
--   delivery word
--   uuid id
--   tool_use_id id
--   agent_id id
--   project name
--   git_branch name
--   version word
--   command_name name
--   permission_mode word
--   text_length integer
--   day date
--   local_day date
--   said_at timestamp
--   text content
--   question content
with machines as materialized (
    select * from _session_machines
)

select
    coalesce(
        machines.machine,
        (
            select _machines.machine
            from files
            join _machines using (source_id)
            where files.file_id = prompts.file_id
        )
    ) as machine,
    coalesce(prompts.session_id, '') as session_id,
    row_number() over (
        partition by prompts.session_id
        order by
            prompts.said_at is null, prompts.said_at, prompts.kind, prompts.delivery, messages.uuid, prompts.tool_use_id,
            prompts.question, prompts.text
    ) as prompt_number,
    -- Equal on every machine that has it: its message, else its session and time.
    coalesce(messages.uuid, coalesce(prompts.session_id, '') || '@' || coalesce(prompts.said_at, ''))
        || '#'
        || row_number() over (
            partition by messages.uuid, prompts.session_id, prompts.said_at
            order by prompts.kind, prompts.delivery, prompts.tool_use_id, prompts.question, prompts.text
        ) as input_id,
    prompts.kind,
    prompts.delivery,
    messages.uuid,
    prompts.tool_use_id,
    agents.agent_id,
    prompts.project,
    prompts.git_branch,
    prompts.version,
    prompts.command_name,
    prompts.permission_mode,
    coalesce(length(prompts.text), 0) as text_length,
    substr(prompts.said_at, 1, 10) as day,
    prompts.said_date as local_day,
    prompts.said_at,
    prompts.text,
    prompts.question
from prompts
left join messages on messages.message_id = prompts.message_id
left join machines on machines.session_id = prompts.session_id
left join agents on agents.agent_run_id = prompts.agent_run_id
order by 1, prompts.said_at, 2, 3;
