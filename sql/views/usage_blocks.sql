create view usage_blocks as
-- One row per block of five hours, and per gap of more than five hours between responses; by the rules of ccusage. A block begins
-- at the full hour (UTC) of its first response and has all responses up to five hours later; the first one after that begins the next.
-- The time of a response is that of its first line; those without a time are in no block. Limits are those of an account: usage on other machines, and outside Claude Code, is not here.
with blocks as materialized (
    select
        _blocks.*,
        lead(first_response_at) over (order by first_response_at) as next_response_at
    from _blocks
),

largest as (
    select max(total_tokens) as total_tokens
    from blocks
    where not is_active
),

gaps as (
    select
        strftime('%Y-%m-%dT%H:%M:%fZ', last_response_at, '+5 hours') as started_at,
        next_response_at as ended_at
    from blocks
    where next_response_at > strftime('%Y-%m-%dT%H:%M:%fZ', last_response_at, '+5 hours')
)

select
    started_at,
    ended_at, -- of a block: five hours after its start, whether they are over or not; of a gap: the next response
    first_response_at,
    last_response_at,
    is_active, -- 1 if the block has not ended and its last response is less than five hours old
    0 as is_gap,
    models,
    response_count,
    input_tokens,
    output_tokens,
    cache_write_tokens,
    cache_read_tokens,
    total_tokens, -- of all four kinds
    -- Part of the tokens of the largest block that has ended: how near a limit could be.
    round(1.0 * total_tokens / (select largest.total_tokens from largest where largest.total_tokens > 0), 4) as largest_share,
    cost_usd,
    unpriced_count,
    tokens_per_minute, -- from the first to the last response; NULL if they have the same time
    hourly_cost_usd,
    burn_level, -- by input and output tokens per minute, without those of the cache: below 2,000, below 5,000, or more
    remaining_minutes,
    projected_total_tokens, -- at the end of the active block, if it goes on as it did so far
    projected_cost_usd
from blocks
union all
select started_at, ended_at, null, null, 0, 1, null, 0, 0, 0, 0, 0, 0, null, 0.0, 0, null, null, null, null, null, null
from gaps
order by ended_at;
