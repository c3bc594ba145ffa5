create view prompts as
-- One row per thing that the person said, wherever it was written: prompts, commands, answers to questions, reasons for a
-- rejection, and what was typed while Claude worked. Of a longer text it has the first 1,000,000 characters.
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
            order by next.line_number
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
            order by messages.line_number desc
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

select
    messages.session_id,
    messages.agent_key,
    messages.message_id,
    null as event_id,
    null as tool_use_id,
    messages.prompt_kind as kind,
    case
        when messages.type = 'attachment' then 'queued'
        when messages.type = 'system' then 'local_command'
        when messages.prompt_source = 'queued' then 'queued'
        else 'user'
    end as delivery,
    substr(coalesce(messages.prompt_text, (
        select group_concat(text, char(10))
        from (
            select substr(content_blocks.text, 1, 1000000) as text
            from content_blocks
            where content_blocks.message_id = messages.message_id
                and content_blocks.type = 'text'
                and content_blocks.part_number = 0
            order by content_blocks.position
        )
    )), 1, 1000000) as text,
    null as question,
    messages.command_name,
    messages.command_arguments,
    messages.permission_mode,
    messages.git_branch,
    messages.version,
    messages.sent_at as said_at
from messages
where messages.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note', 'sdk_prompt')

union all

-- Typed while a tool ran, and delivered beside its result (2.1.19 to 2.1.37).
select
    messages.session_id, messages.agent_key, messages.message_id, null, null, content_blocks.prompt_kind, 'beside_result',
    substr(content_blocks.text, 1, 1000000), null, null, null, messages.permission_mode, messages.git_branch,
    messages.version, messages.sent_at
from messages
join content_blocks using (message_id)
where messages.prompt_kind = 'tool_result'
    and content_blocks.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note')

union all

-- Answers to questions.
select
    messages.session_id, messages.agent_key, messages.message_id, null, tool_results.tool_use_id, 'answer', 'answer',
    cast(answers.value as text), answers.key, null, null, messages.permission_mode, messages.git_branch, messages.version,
    messages.sent_at
from tool_uses
join tool_results using (tool_use_id)
join messages on messages.message_id = tool_results.message_id
join json_each(tool_results.details_json, '$.answers') as answers
where tool_uses.name = 'AskUserQuestion'
    and json_type(tool_results.details_json, '$.answers') = 'object'

union all

-- Reasons for a rejection.
select
    messages.session_id, messages.agent_key, messages.message_id, null, tool_results.tool_use_id, 'rejection', 'rejection',
    tool_results.denial_reason, null, null, null, messages.permission_mode, messages.git_branch, messages.version,
    messages.sent_at
from tool_results
join messages using (message_id)
where tool_results.denial_reason is not null

union all

-- Typed while Claude worked, before 2.1.97: often the queue is the only trace. Taken back to be edited, it was not sent.
select
    queue.session_id, null, null, queue.event_id, null, iif(queue.is_command, 'slash_command', 'human'), 'queue_only',
    queue.text, null, iif(queue.is_command, queue.first_word, null),
    iif(queue.is_command, nullif(ltrim(substr(queue.text, length(queue.first_word) + 1)), ''), null), null, null, null,
    queue.occurred_at
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
