-- Cache: what misses cost
-- How to read: requests that wrote most of their context to the cache again, although the previous request had it there; a long pause explains most of them.
-- Group: cache
-- :limit number - rows to show; 20 without it
-- Bar: cache_write_cost_usd
with requests as (
    select
        session_id, agent_run_id, model, responded_at, cache_write_tokens, cache_read_tokens,
        cache_write_5m_cost_usd + cache_write_1h_cost_usd as cache_write_cost_usd,
        lag(responded_at) over thread as previous_at,
        lag(coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)) over thread as previous_tokens
    from response_costs
    window thread as (partition by session_id, agent_run_id, model order by responded_at, api_message_id, cache_read_tokens, cache_write_tokens)
)

select
    responded_at,
    model,
    previous_tokens,
    cache_read_tokens,
    cache_write_tokens,
    round((julianday(responded_at) - julianday(previous_at)) * 1440, 1) as pause_minutes,
    round(cache_write_cost_usd, 4) as cache_write_cost_usd,
    session_id
from requests
where previous_tokens > 10000
    and cache_read_tokens < previous_tokens / 2
order by cache_write_cost_usd desc, responded_at, session_id, model, previous_tokens, cache_read_tokens
limit coalesce(nullif(:limit, ''), 20);
