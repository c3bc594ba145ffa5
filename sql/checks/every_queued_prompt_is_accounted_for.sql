-- Every enqueue operation is delivered, absorbed, removed, only in the queue, undelivered or a copy, exactly once.
select events.event_id, 'an enqueue operation without an entry' as finding
from events
where events.type = 'queue-operation'
    and json_extract(events.payload_json, '$.operation') = 'enqueue'
    and not exists (select 1 from queue_entries where queue_entries.event_id = events.event_id)

union all

select queue_entries.event_id, 'an entry without an enqueue operation'
from queue_entries
join events using (event_id)
where events.type is not 'queue-operation'
    or json_extract(events.payload_json, '$.operation') is not 'enqueue'

union all

select event_id, fate || case when message_id is null then ' without' else ' with' end || ' a message'
from queue_entries
where (fate in ('delivered', 'absorbed')) <> (message_id is not null)

union all

-- Beside a tool result several prompts can stand.
select max(queue_entries.event_id), 'a message that carries ' || count(*) || ' entries'
from queue_entries
join messages using (message_id)
where messages.prompt_kind <> 'tool_result'
group by queue_entries.message_id
having count(*) > 1

union all

-- What the person typed is said once: by its message, or by the queue.
select queue_entries.event_id, 'a prompt that is ' || queue_entries.fate || ' and ' || count(prompts.kind) || ' times in prompts'
from queue_entries
left join prompts on prompts.event_id = queue_entries.event_id
where queue_entries.prompt_kind in (select prompt_kind from prompt_kinds where is_typed)
group by queue_entries.event_id
having count(prompts.kind) <> max(queue_entries.fate = 'queue_only')
