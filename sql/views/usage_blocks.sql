create view usage_blocks as
-- One row per block of five hours, and per gap of more than five hours between responses; by the rules of ccusage. A block begins
-- at the full hour (UTC) of its first response and has all responses up to five hours later; the first one after that begins the next.
-- The time of a response is that of its first line; those without a time are in no block. Limits are those of an account: usage on other machines, and outside Claude Code, is not here.
with recursive
firsts as (
    select min(responded_at) as first_response_at
    from api_responses
    union all
    select (
        select min(api_responses.responded_at)
        from api_responses
        where api_responses.responded_at > strftime('%Y-%m-%dT%H:00:00.000Z', firsts.first_response_at, '+5 hours')
    )
    from firsts
    where firsts.first_response_at is not null
),

spans as materialized (
    select
        first_response_at,
        substr(first_response_at, 1, 13) || ':00:00.000Z' as started_at,
        -- SQLite has no times after the year 9999.
        coalesce(strftime('%Y-%m-%dT%H:00:00.000Z', first_response_at, '+5 hours'), '9999-12-31T23:59:59.999Z') as ended_at
    from firsts
    where first_response_at is not null
),

model_sums as (
    select
        spans.started_at,
        spans.ended_at,
        spans.first_response_at,
        max(response_costs.responded_at) as last_response_at,
        nullif(response_costs.model, '') as model,
        count(*) as response_count,
        sum(response_costs.input_tokens) as input_tokens,
        sum(response_costs.output_tokens) as output_tokens,
        sum(response_costs.cache_write_tokens) as cache_write_tokens,
        sum(response_costs.cache_read_tokens) as cache_read_tokens,
        sum(response_costs.cost_usd) as cost_usd,
        sum(response_costs.cost_usd is null) as unpriced_count
    from spans
    cross join response_costs
        on response_costs.responded_at between spans.first_response_at and spans.ended_at
    group by spans.first_response_at, nullif(response_costs.model, '')
),

sums as (
    select
        started_at,
        ended_at,
        first_response_at,
        max(last_response_at) as last_response_at,
        group_concat(model) as models,
        sum(response_count) as response_count,
        coalesce(sum(input_tokens), 0) as input_tokens,
        coalesce(sum(output_tokens), 0) as output_tokens,
        coalesce(sum(cache_write_tokens), 0) as cache_write_tokens,
        coalesce(sum(cache_read_tokens), 0) as cache_read_tokens,
        -- Sums of versions of SQLite differ in the last digits.
        round(sum(cost_usd), 9) as cost_usd,
        sum(unpriced_count) as unpriced_count
    from (select * from model_sums order by first_response_at, model)
    group by first_response_at
),

blocks as (
    select
        sums.*,
        input_tokens + output_tokens + cache_write_tokens + cache_read_tokens as total_tokens,
        nullif(round((julianday(last_response_at) - julianday(first_response_at)) * 86400000), 0) / 60000 as used_minutes,
        cast(round((julianday(ended_at) - julianday('now')) * 1440) as integer) as remaining_minutes,
        last_response_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-5 hours')
            and ended_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as is_active,
        lead(first_response_at) over (order by first_response_at) as next_response_at
    from sums
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
    round(cost_usd, 6) as cost_usd,
    unpriced_count,
    round(total_tokens / used_minutes, 3) as tokens_per_minute, -- from the first to the last response; NULL if they have the same time
    round(cost_usd / used_minutes * 60, 6) as hourly_cost_usd,
    case
        when (input_tokens + output_tokens) / used_minutes < 2000 then 'normal'
        when (input_tokens + output_tokens) / used_minutes < 5000 then 'moderate'
        when used_minutes is not null then 'high'
    end as burn_level, -- by input and output tokens per minute, without those of the cache: below 2,000, below 5,000, or more
    case when is_active then remaining_minutes end as remaining_minutes,
    case
        when is_active then cast(round(total_tokens + total_tokens / used_minutes * remaining_minutes) as integer)
    end as projected_total_tokens, -- at the end of the active block, if it goes on as it did so far
    case when is_active then round(cost_usd + cost_usd / used_minutes * remaining_minutes, 6) end as projected_cost_usd
from blocks
union all
select started_at, ended_at, null, null, 0, 1, null, 0, 0, 0, 0, 0, 0, null, 0.0, 0, null, null, null, null, null, null
from gaps
order by ended_at;
