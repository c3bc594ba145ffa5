-- name: find_queued_sessions
-- Touched sessions with a queue, and the lines without a session.
select session_id
from touched_sessions
where exists (
    select 1
    from events
    where events.session_id = touched_sessions.session_id and events.type = 'queue-operation'
)
union all
select null
where exists (select 1 from events where events.session_id is null and events.type = 'queue-operation')

-- name: find_queue_operations
-- The operations of a session, the copies of a file one after the other.
select events.event_id, events.file_id, events.payload_json, events.occurred_at
from events
join files using (file_id)
join sources using (source_id)
where events.session_id is ?1
    and events.type = 'queue-operation'
order by
    files.path, sources.machine_id, sources.root_path, files.generation, events.line_number, events.byte_offset

-- name: find_queue_records
-- The messages of a session that may carry what was queued. A text beside a tool result is one too.
select messages.message_id, messages.sent_at, messages.uuid, _message_texts.text, messages.type = 'attachment' as is_absorbed,
    messages.prompt_kind <> 'machine' as is_typed, messages.prompt_source = 'queued' as is_queued
from prompt_kinds
cross join messages indexed by messages_by_prompt
    on messages.prompt_kind = prompt_kinds.prompt_kind and messages.session_id is ?1
cross join _message_texts using (message_id)
where (prompt_kinds.is_prompt or prompt_kinds.prompt_kind = 'machine')
    and messages.agent_run_id is null
union all
select messages.message_id, messages.sent_at, messages.uuid, content_blocks.text, 1, 1, 0
from messages indexed by messages_by_prompt
cross join content_blocks indexed by content_blocks_beside_results using (message_id)
where messages.prompt_kind = 'tool_result'
    and messages.session_id is ?1
    and content_blocks.prompt_kind in (select prompt_kind from prompt_kinds where is_typed)
order by 2, 3

-- name: find_version_before
-- The version of Claude Code that wrote the last message before a moment.
select version
from messages
where session_id is ?1
    and sent_at <= ?2
    and version is not null
order by sent_at desc, uuid desc
limit 1

-- name: insert_queue_entry
insert into queue_entries (
    event_id, session_id, message_id, fate, prompt_kind, machine_kind, command_name, command_arguments, queued_at, text
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
