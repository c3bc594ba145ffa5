create view cache_rewrites as
-- One row per API response that wrote to the cache again what the response before it in the same session or agent had there.
with requests as (
    select
        api_response_id,
        session_id,
        agent_run_id,
        model,
        lag(model) over thread as previous_model,
        lag(coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)) over thread as previous_tokens,
        coalesce(cache_read_tokens, 0) as cache_read_tokens,
        cache_write_tokens,
        -- Entries of both lifetimes can be in one cache. It has expired for certain after the longer one.
        case max(cache_write_1h_tokens > 0) over (thread rows between unbounded preceding and 1 preceding)
            when 1 then 60
            else 5
        end as lifetime_minutes,
        responded_at,
        lag(responded_at) over thread as previous_at
    from api_responses
    where kind = 'message' and session_id is not null
    window thread as (
        partition by session_id, agent_run_id
        order by
            responded_at, api_message_id, id_scope, model, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens
    )
),

misses as (
    select
        requests.*,
        min(cache_write_tokens, previous_tokens - cache_read_tokens) as rewritten_tokens,
        (julianday(responded_at) - julianday(previous_at)) * 1440 as pause_minutes
    from requests
    where previous_tokens > 10000
        and cache_read_tokens < previous_tokens / 2
        and cache_write_tokens > 0
)

select
    misses.api_response_id,
    response_costs.message_id,
    misses.session_id,
    misses.agent_run_id,
    response_costs.project,
    case
        when exists (
            select 1
            from messages indexed by messages_by_session
            where messages.session_id = misses.session_id
                and messages.sent_at > misses.previous_at
                and messages.sent_at <= misses.responded_at
                and messages.agent_run_id is misses.agent_run_id
                and (messages.prompt_kind = 'compact_summary' or messages.subtype in ('compact_boundary', 'microcompact_boundary'))
        ) then 'compaction' -- a summary replaced the conversation
        when misses.previous_model <> misses.model then 'model switch' -- every model has a cache of its own
        when misses.pause_minutes > misses.lifetime_minutes then 'pause' -- longer than the cache lives
        when exists (
            select 1
            from messages indexed by messages_by_session
            where messages.session_id = misses.session_id
                and messages.sent_at > misses.previous_at
                and messages.sent_at <= misses.responded_at
                and messages.agent_run_id is null
                and (
                    json_extract(messages.extra_json, '$.data.hookName') like 'SessionStart:%'
                    or json_extract(messages.extra_json, '$.attachment.hookName') like 'SessionStart:%'
                )
        ) then 'restart' -- Claude Code was started again on the session
        else 'unknown' -- the transcript does not say what changed at the beginning of the prompt
    end as cause,
    misses.model,
    misses.previous_model,
    round(misses.pause_minutes, 1) as pause_minutes,
    misses.previous_tokens, -- in the cache after the response before it
    misses.cache_read_tokens,
    misses.cache_write_tokens,
    misses.rewritten_tokens, -- written although they had been there
    -- The part of the cost of its cache writes.
    round(
        (response_costs.cache_write_5m_cost_usd + response_costs.cache_write_1h_cost_usd)
            * misses.rewritten_tokens / misses.cache_write_tokens,
        6
    ) as rewritten_cost_usd,
    response_costs.response_date, -- local
    misses.responded_at
from misses
cross join response_costs on response_costs.api_response_id = misses.api_response_id;
