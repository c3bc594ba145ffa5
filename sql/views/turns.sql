create view turns as
-- One row per turn: a delivered prompt and everything up to the next one.
with deliveries as (
    select
        messages.session_id,
        messages.message_id,
        messages.prompt_id,
        messages.prompt_kind,
        messages.permission_mode,
        messages.sent_at,
        row_number() over session_order as turn_number,
        coalesce(lead(messages.sent_at) over session_order, '~') as next_sent_at
    from messages
    where messages.prompt_kind in (select prompt_kind from prompt_kinds where is_turn_start)
        and messages.type = 'user'
        and messages.agent_run_id is null
    window session_order as (partition by messages.session_id order by messages.sent_at, messages.uuid)
),

-- Prompts with the same time are one turn.
begun as (
    select
        deliveries.*,
        (
            select max(messages.sent_at)
            from messages
            where messages.session_id = deliveries.session_id
                and messages.sent_at >= deliveries.sent_at
                and messages.sent_at < deliveries.next_sent_at
        ) as ended_at
    from deliveries
    where deliveries.session_id is not null
        and deliveries.sent_at < deliveries.next_sent_at
),

-- Responses of the turn, those of agents included. The last one of the conversation itself comes first.
responses as (
    select
        begun.session_id,
        begun.turn_number,
        row_number() over (
            partition by begun.session_id, begun.turn_number
            order by
                response_costs.agent_run_id is not null, response_costs.kind = 'advisor', response_costs.responded_at desc,
                response_costs.api_message_id desc, response_costs.model desc, response_costs.context_tokens desc,
                response_costs.api_response_id
        ) as place,
        response_costs.agent_run_id,
        response_costs.model,
        response_costs.input_tokens,
        response_costs.output_tokens,
        response_costs.cache_write_tokens,
        response_costs.cache_read_tokens,
        response_costs.context_tokens,
        response_costs.total_tokens,
        response_costs.cost_usd
    from begun
    join response_costs
        on response_costs.session_id = begun.session_id
        and response_costs.responded_at >= begun.sent_at
        and response_costs.responded_at < begun.next_sent_at
),

spent as (
    select
        session_id,
        turn_number,
        max(case when place = 1 and agent_run_id is null then model end) as model,
        max(case when place = 1 and agent_run_id is null then context_tokens end) as context_tokens,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        sum(cache_write_tokens) as cache_write_tokens,
        sum(cache_read_tokens) as cache_read_tokens,
        sum(total_tokens) as total_tokens,
        round(sum(cost_usd), 6) as cost_usd,
        count(*) - count(cost_usd) as unpriced_count
    from responses
    group by session_id, turn_number
)

select
    begun.session_id,
    begun.turn_number,
    projects.name as project,
    begun.message_id,
    begun.prompt_id,
    begun.prompt_kind,
    begun.permission_mode,
    spent.model, -- of the last response outside agents
    (select _message_texts.text from _message_texts where _message_texts.message_id = begun.message_id) as prompt,
    -- Counted in the index of a session's messages, whose rows are long, and only if the column is selected.
    (
        select count(*) - 1
        from messages
        where messages.session_id = begun.session_id
            and messages.sent_at >= begun.sent_at
            and messages.sent_at < begun.next_sent_at
    ) as message_count, -- messages after the prompt, progress and agents included
    (
        select count(distinct messages.api_response_id)
        from messages
        where messages.session_id = begun.session_id
            and messages.sent_at >= begun.sent_at
            and messages.sent_at < begun.next_sent_at
    ) as response_count,
    (
        select count(*)
        from messages
        cross join tool_uses on tool_uses.message_id = messages.message_id
        where messages.session_id = begun.session_id
            and messages.sent_at >= begun.sent_at
            and messages.sent_at < begun.next_sent_at
    ) as tool_call_count,
    (
        select max(messages.duration_ms)
        from messages
        where messages.session_id = begun.session_id
            and messages.sent_at >= begun.sent_at
            and messages.sent_at < begun.next_sent_at
            and messages.type = 'system'
            and messages.subtype = 'turn_duration'
    ) as recorded_duration_ms,
    coalesce(spent.input_tokens, 0) as input_tokens, -- agents included, as in the other sums
    coalesce(spent.output_tokens, 0) as output_tokens,
    coalesce(spent.cache_write_tokens, 0) as cache_write_tokens,
    coalesce(spent.cache_read_tokens, 0) as cache_read_tokens,
    coalesce(spent.total_tokens, 0) as total_tokens,
    spent.context_tokens, -- prompt of the last response outside agents: the context at the end
    spent.cost_usd, -- NULL when no price is known
    coalesce(spent.unpriced_count, 0) as unpriced_count,
    cast(round((julianday(begun.ended_at) - julianday(begun.sent_at)) * 86400000) as integer)
        as duration_ms, -- from the prompt to the last message
    exists (
        select 1
        from messages indexed by messages_by_prompt
        where messages.session_id = begun.session_id
            and messages.sent_at >= begun.sent_at
            and messages.sent_at < begun.next_sent_at
            and messages.prompt_kind = 'interrupt'
    ) as is_interrupted,
    begun.sent_at as started_at,
    begun.ended_at
from begun
left join sessions on sessions.session_id = begun.session_id
left join projects on projects.project_id = sessions.project_id
left join spent on spent.session_id = begun.session_id and spent.turn_number = begun.turn_number;
