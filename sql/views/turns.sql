create view turns as
-- One row per turn: a prompt that was delivered, and all that followed it until the next.
with deliveries as (
    select
        messages.session_id,
        messages.message_id,
        messages.uuid,
        messages.prompt_id,
        messages.prompt_kind,
        messages.permission_mode,
        messages.prompt_text,
        messages.sent_at,
        row_number() over session_order as turn_number,
        lead(messages.sent_at) over session_order as next_sent_at
    from messages
    where messages.prompt_kind in ('human', 'slash_command', 'sdk_prompt')
        and messages.type = 'user'
        and messages.agent_key is null
    window session_order as (partition by messages.session_id order by messages.sent_at, messages.uuid)
)

select
    deliveries.session_id,
    deliveries.turn_number,
    deliveries.message_id,
    deliveries.prompt_id,
    deliveries.prompt_kind,
    deliveries.permission_mode,
    coalesce(deliveries.prompt_text, (
        select group_concat(text, char(10))
        from (
            select content_blocks.text
            from content_blocks
            where content_blocks.message_id = deliveries.message_id
                and content_blocks.type = 'text'
                and content_blocks.part_number = 0
            order by content_blocks.position
        )
    )) as prompt,
    count(messages.message_id) - 1 as message_count, -- that followed, progress and agents included
    count(distinct messages.api_response_id) as response_count,
    count(tool_uses.tool_use_id) as tool_call_count,
    max(case messages.subtype when 'turn_duration' then messages.duration_ms end) as recorded_duration_ms,
    cast(round((julianday(max(messages.sent_at)) - julianday(deliveries.sent_at)) * 86400000) as integer)
        as duration_ms, -- until the last message
    max(messages.prompt_kind is 'interrupt') as is_interrupted,
    deliveries.sent_at as started_at,
    max(messages.sent_at) as ended_at
from deliveries
join messages
    on messages.session_id = deliveries.session_id
    and messages.sent_at >= deliveries.sent_at
    and messages.sent_at < coalesce(deliveries.next_sent_at, '~')
left join tool_uses on tool_uses.message_id = messages.message_id
group by deliveries.message_id;
