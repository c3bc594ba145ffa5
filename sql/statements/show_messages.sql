-- The messages of a session in reading order, without what only tells of progress.
select
    messages.message_id, messages.uuid, messages.agent_key, messages.type, messages.subtype, messages.prompt_kind,
    messages.machine_kind, messages.model, messages.is_meta, messages.sent_at
from messages
where messages.session_id = :session
    and messages.type <> 'progress'
    and (messages.type <> 'attachment' or messages.prompt_kind is not null)
    and coalesce(messages.subtype, '') not in ('turn_duration', 'stop_hook_summary')
order by messages.sent_at, messages.file_id, messages.line_number
