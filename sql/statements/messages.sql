-- name: count_rejected
select count(*)
from rejected_lines

-- name: delete_blocks_of_message
delete from content_blocks
where message_id = ?1

-- name: delete_copies
delete from message_copies
where message_id = ?1

-- name: delete_notifications_of_message
delete from task_notifications
where message_id = ?1

-- name: find_copies
-- The copies of a message.
select
    message_copies.message_id, message_copies.file_id, message_copies.line_number, message_copies.byte_offset,
    message_copies.byte_length, message_copies.session_id, message_copies.content_hash, message_copies.sent_at,
    message_copies.forked_from_session_id
from message_copies
where message_copies.message_id = ?1

-- name: find_message
-- The line that a message was taken from.
select
    messages.message_id, messages.file_id, messages.line_number, messages.byte_offset, messages.byte_length,
    messages.session_id, messages.content_hash, messages.sent_at,
    messages.forked_from_session_id
from messages
where messages.message_id = ?1

-- name: find_message_by_uuid
select message_id
from messages
where uuid = ?1

-- name: find_unknown_kind
select first_version, file_id, line_number
from unknown_kinds
where level = ?1 and name = ?2

-- name: last_keys
select
    (select coalesce(max(file_id), 0) from files),
    (select coalesce(max(project_id), 0) from projects),
    (select coalesce(max(agent_run_id), 0) from agents),
    (select coalesce(max(message_id), 0) from messages),
    (select coalesce(max(block_id), 0) from content_blocks),
    (select coalesce(max(tool_result_id), 0) from tool_results),
    (select coalesce(max(event_id), 0) from events),
    (select coalesce(max(history_prompt_id), 0) from history_prompts),
    (select coalesce(max(api_response_id), 0) from api_responses)

-- name: move_unknown_kind_example
update unknown_kinds
set file_id = ?3, line_number = ?4
where level = ?1 and name = ?2

-- name: new_kinds
-- Record and block types that this version does not know.
select level, name, occurrence_count
from unknown_kinds
where level <> 'key'
order by occurrence_count desc, name

-- name: rejects_by_reason
-- Rejected fragments by reason.
select reason, count(*) as fragment_count, sum(length(raw)) as fragment_bytes
from rejected_lines
group by reason
order by fragment_count desc, reason

-- name: touch_session_of_message
insert or ignore into touched_sessions (session_id)
select session_id
from messages
where uuid = ?1 and session_id is not null

-- name: update_block_extra
update content_blocks
set extra_json = ?2
where block_id = ?1

-- name: upsert_unknown_kind
insert into unknown_kinds (level, name, first_version, occurrence_count, file_id, line_number)
values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict (level, name) do update
set first_version = excluded.first_version, occurrence_count = occurrence_count + excluded.occurrence_count
