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
)

-- Each figure is a subquery, so that a page of turns, or the turns of one session, reads only its own messages and responses, and
-- a column that is not selected costs nothing. The sums include agents.
select
    begun.session_id,
    begun.turn_number,
    projects.name as project,
    begun.message_id,
    begun.prompt_id,
    begun.prompt_kind,
    begun.permission_mode,
    (
        select response_costs.model
        from response_costs
        where response_costs.session_id = begun.session_id
            and response_costs.responded_at >= begun.sent_at
            and response_costs.responded_at < begun.next_sent_at
            and response_costs.agent_run_id is null
        order by
            response_costs.kind = 'advisor', response_costs.responded_at desc, response_costs.api_message_id desc,
            response_costs.model desc, response_costs.context_tokens desc
        limit 1
    ) as model, -- of the last response outside agents
    (select _message_texts.text from _message_texts where _message_texts.message_id = begun.message_id) as prompt,
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
    (
        select coalesce(sum(api_responses.input_tokens), 0)
        from api_responses
        where api_responses.session_id = begun.session_id
            and api_responses.responded_at >= begun.sent_at
            and api_responses.responded_at < begun.next_sent_at
    ) as input_tokens,
    (
        select coalesce(sum(api_responses.output_tokens), 0)
        from api_responses
        where api_responses.session_id = begun.session_id
            and api_responses.responded_at >= begun.sent_at
            and api_responses.responded_at < begun.next_sent_at
    ) as output_tokens,
    (
        select coalesce(sum(api_responses.cache_write_tokens), 0)
        from api_responses
        where api_responses.session_id = begun.session_id
            and api_responses.responded_at >= begun.sent_at
            and api_responses.responded_at < begun.next_sent_at
    ) as cache_write_tokens,
    (
        select coalesce(sum(api_responses.cache_read_tokens), 0)
        from api_responses
        where api_responses.session_id = begun.session_id
            and api_responses.responded_at >= begun.sent_at
            and api_responses.responded_at < begun.next_sent_at
    ) as cache_read_tokens,
    (
        select coalesce(sum(response_costs.total_tokens), 0)
        from response_costs
        where response_costs.session_id = begun.session_id
            and response_costs.responded_at >= begun.sent_at
            and response_costs.responded_at < begun.next_sent_at
    ) as total_tokens,
    (
        select response_costs.context_tokens
        from response_costs
        where response_costs.session_id = begun.session_id
            and response_costs.responded_at >= begun.sent_at
            and response_costs.responded_at < begun.next_sent_at
            and response_costs.agent_run_id is null
        order by
            response_costs.kind = 'advisor', response_costs.responded_at desc, response_costs.api_message_id desc,
            response_costs.model desc, response_costs.context_tokens desc
        limit 1
    ) as context_tokens, -- prompt of the last response outside agents: the context at the end
    (
        select round(sum(response_costs.cost_usd), 6)
        from response_costs
        where response_costs.session_id = begun.session_id
            and response_costs.responded_at >= begun.sent_at
            and response_costs.responded_at < begun.next_sent_at
    ) as cost_usd, -- NULL when no price is known
    (
        select count(*) - count(response_costs.cost_usd)
        from response_costs
        where response_costs.session_id = begun.session_id
            and response_costs.responded_at >= begun.sent_at
            and response_costs.responded_at < begun.next_sent_at
    ) as unpriced_count,
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
left join projects on projects.project_id = sessions.project_id;
