-- One thread, by its parents
-- How to read: from the first message to the given one, across compactions.
-- Group: conversation
-- :uuid - uuid of a message; the latest response without it
with recursive leaf as (
    select message_id
    from messages
    where uuid = coalesce(
        nullif(:uuid, ''),
        (select uuid from messages where type = 'assistant' and agent_run_id is null order by sent_at desc, uuid limit 1)
    )
),

thread as (
    select message_id, 0 as distance
    from leaf
    union
    select coalesce(messages.parent_message_id, messages.logical_parent_message_id), thread.distance + 1
    from thread
    join messages using (message_id)
    where coalesce(messages.parent_message_id, messages.logical_parent_message_id) is not null
        and thread.distance < 10000
)

select conversation.sent_at, conversation.type, conversation.text, conversation.tool_calls, conversation.uuid
from thread
join conversation on conversation.message_id = thread.message_id
order by thread.distance desc;
