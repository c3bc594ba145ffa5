-- One row per signal from the person: a denial, an interruption, a rejected plan, a reply, a correction, a prompt.
-- Key: session_id, signal_number
-- Time: said_at
-- Columns:
--   machine name
--   session_id id
--   signal_number integer
--   signal_id id
--   kind word
--   uuid id
--   tool_use_id id
--   agent_id id
--   project name
--   git_branch name
--   model word
--   tool_name word
--   text_length integer
--   is_trivial boolean
--   day date
--   local_day date
--   local_week date
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
            where files.file_id = feedback.file_id
        )
    ) as machine,
    coalesce(feedback.session_id, '') as session_id,
    -- The order of bi_feedback.
    row_number() over (
        partition by feedback.session_id
        order by
            feedback.said_at is null, feedback.said_at, feedback.kind, feedback.tool_use_id, messages.uuid, feedback.question,
            feedback.text
    ) as signal_number,
    -- Equal on every machine that has it: its message, else its session and time.
    coalesce(messages.uuid, coalesce(feedback.session_id, '') || '@' || coalesce(feedback.said_at, ''))
        || '#'
        || row_number() over (
            partition by messages.uuid, feedback.session_id, feedback.said_at
            order by feedback.kind, feedback.tool_use_id, feedback.question, feedback.text
        ) as signal_id,
    feedback.kind,
    messages.uuid,
    feedback.tool_use_id,
    agents.agent_id,
    feedback.project,
    feedback.git_branch,
    feedback.model,
    feedback.tool_name,
    coalesce(length(feedback.text), 0) as text_length,
    feedback.is_trivial,
    substr(feedback.said_at, 1, 10) as day,
    feedback.said_date as local_day,
    date(feedback.said_date, 'weekday 0', '-6 days') as local_week, -- its Monday
    feedback.said_at,
    feedback.text,
    feedback.question
from feedback
left join messages on messages.message_id = feedback.message_id
left join machines on machines.session_id = feedback.session_id
left join agents on agents.agent_run_id = feedback.agent_run_id
order by 1, feedback.said_at, 2, 3;
