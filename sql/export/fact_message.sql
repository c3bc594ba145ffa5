-- One row per message: a record of a transcript with a uuid.
-- Key: uuid
-- Time: sent_at
-- Columns:
--   machine name
--   uuid id
--   parent_uuid id
--   session_id id
--   agent_id id
--   prompt_id id
--   request_id id
--   api_message_id id
--   type word
--   subtype word
--   prompt_kind word
--   machine_kind word
--   model word
--   stop_reason word
--   git_branch name
--   version word
--   entrypoint word
--   byte_length integer
--   duration_ms integer
--   is_sidechain boolean
--   is_meta boolean
--   is_compact_summary boolean
--   is_api_error boolean
--   day date
--   local_day date
--   sent_at timestamp
--   text content
--   thinking content
with machines as materialized (
    select * from _session_machines
),

-- Sorted without the long texts.
sorted as materialized (
    select
        coalesce(
            machines.machine,
            (
                select _machines.machine
                from files
                join _machines using (source_id)
                where files.file_id = messages.file_id
            )
        ) as machine,
        messages.message_id
    from messages
    left join machines on machines.session_id = messages.session_id
    order by 1, messages.sent_at, messages.uuid
)

select
    sorted.machine,
    messages.uuid,
    messages.parent_uuid,
    messages.session_id,
    (select agents.agent_id from agents where agents.agent_run_id = messages.agent_run_id) as agent_id,
    messages.prompt_id,
    messages.request_id,
    (
        select api_responses.api_message_id from api_responses where api_responses.api_response_id = messages.api_response_id
    ) as api_message_id,
    messages.type,
    messages.subtype,
    messages.prompt_kind,
    messages.machine_kind,
    messages.model,
    messages.stop_reason,
    messages.git_branch,
    messages.version,
    messages.entrypoint,
    messages.byte_length,
    messages.duration_ms,
    messages.is_sidechain,
    messages.is_meta,
    messages.is_compact_summary,
    messages.is_api_error,
    substr(messages.sent_at, 1, 10) as day,
    date(messages.sent_at, (
        select utc_offset from time_zone_offsets where begins_at <= messages.sent_at order by begins_at desc limit 1
    )) as local_day,
    messages.sent_at,
    (select _message_texts.text from _message_texts where _message_texts.message_id = messages.message_id) as text,
    (select conversation.thinking from conversation where conversation.message_id = messages.message_id) as thinking
from sorted
cross join messages on messages.message_id = sorted.message_id;
