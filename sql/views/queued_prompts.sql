create view queued_prompts as
-- One row per thing that the person typed while Claude worked and that stands only in the queue, as often before 2.1.97.
with queue as (
    -- What became of a prompt that was typed while Claude worked. One that is longer than 1,000,000 characters is left out.
    select
        events.event_id, events.session_id, events.occurred_at, events.file_id, events.line_number,
        trim(json_extract(events.payload_json, '$.content')) as text,
        (
            select json_extract(next.payload_json, '$.operation')
            from events as next
            where next.session_id = events.session_id
                and next.type = 'queue-operation'
                and length(next.payload_json) <= 1000000
                and next.file_id = events.file_id
                and next.line_number > events.line_number
                and json_extract(next.payload_json, '$.operation') <> 'enqueue'
            order by next.line_number, next.byte_offset
            limit 1
        ) as taken_out_by,
        (
            select json_extract('[' || replace(messages.version, '.', ',') || ']', '$[0]') * 1000000
                + json_extract('[' || replace(messages.version, '.', ',') || ']', '$[1]') * 1000
                + json_extract('[' || replace(messages.version, '.', ',') || ']', '$[2]')
            from messages
            where messages.file_id = events.file_id
                and messages.line_number < events.line_number
                and json_valid('[' || replace(messages.version, '.', ',') || ']')
            order by messages.line_number desc, messages.byte_offset desc
            limit 1
        ) as version_number
    from events
    where events.type = 'queue-operation'
        and length(events.payload_json) <= 1000000
        and json_extract(events.payload_json, '$.operation') = 'enqueue'
        and json_type(events.payload_json, '$.content') = 'text'
        and json_extract(events.payload_json, '$.content') not like '<%'
        and json_extract(events.payload_json, '$.content') not like '{"task_id"%'
),

-- A slash and one word without another slash, which would be a path.
commands as (
    select
        queue.*,
        substr(queue.text, 1, instr(queue.text || ' ', ' ') - 1) as first_word,
        queue.text glob '/[a-zA-Z]*' and instr(substr(queue.text, 2, instr(queue.text || ' ', ' ') - 2), '/') = 0
            as is_command
    from queue
),

texts as (
    select message_id, text
    from content_blocks
    where type = 'text' and part_number = 0 and text is not null
)

-- Taken back to be edited, it was not sent.
select
    queue.session_id,
    queue.event_id,
    iif(queue.is_command, 'slash_command', 'human') as kind,
    queue.text,
    iif(queue.is_command, queue.first_word, null) as command_name,
    iif(queue.is_command, nullif(ltrim(substr(queue.text, length(queue.first_word) + 1)), ''), null) as command_arguments,
    queue.occurred_at as said_at
from commands as queue
where queue.taken_out_by = 'remove'
    and queue.version_number < 2001097
    and queue.text <> ''
    and not exists (
        select 1
        from messages
        join texts using (message_id)
        where messages.session_id = queue.session_id
            and messages.sent_at >= queue.occurred_at
            and messages.type in ('user', 'attachment')
            and instr(texts.text, queue.text) > 0
    );
