create view _blocks as
-- One row per block of usage_blocks, without what depends on other blocks. A condition on ended_at is applied before the sums, so that
-- the last blocks are found in milliseconds.
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

spans as (
    select
        first_response_at,
        substr(first_response_at, 1, 13) || ':00:00.000Z' as started_at,
        -- SQLite has no times after the year 9999.
        coalesce(strftime('%Y-%m-%dT%H:00:00.000Z', first_response_at, '+5 hours'), '9999-12-31T23:59:59.999Z') as ended_at
    from firsts
    where first_response_at is not null
),

sums as (
    select
        spans.started_at,
        spans.ended_at,
        spans.first_response_at,
        max(response_costs.responded_at) as last_response_at,
        count(*) as response_count,
        coalesce(sum(response_costs.input_tokens), 0) as input_tokens,
        coalesce(sum(response_costs.output_tokens), 0) as output_tokens,
        coalesce(sum(response_costs.cache_write_tokens), 0) as cache_write_tokens,
        coalesce(sum(response_costs.cache_read_tokens), 0) as cache_read_tokens,
        -- Sums of versions of SQLite differ in the last digits.
        round(sum(response_costs.cost_usd), 9) as cost_usd,
        sum(response_costs.cost_usd is null) as unpriced_count
    from spans
    cross join response_costs
        on response_costs.responded_at between spans.first_response_at and spans.ended_at
    group by spans.started_at, spans.ended_at, spans.first_response_at
),

blocks as (
    select
        sums.*,
        input_tokens + output_tokens + cache_write_tokens + cache_read_tokens as total_tokens,
        nullif(round((julianday(last_response_at) - julianday(first_response_at)) * 86400000), 0) / 60000 as used_minutes,
        cast(round((julianday(ended_at) - julianday('now')) * 1440) as integer) as remaining_minutes,
        last_response_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-5 hours')
            and ended_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as is_active
    from sums
)

select
    started_at,
    ended_at,
    first_response_at,
    last_response_at,
    is_active,
    (
        select group_concat(used.model)
        from (
            select distinct nullif(api_responses.model, '') as model
            from api_responses
            where api_responses.responded_at between blocks.first_response_at and blocks.ended_at
            order by 1
        ) as used
    ) as models,
    response_count,
    input_tokens,
    output_tokens,
    cache_write_tokens,
    cache_read_tokens,
    total_tokens,
    round(cost_usd, 6) as cost_usd,
    unpriced_count,
    round(total_tokens / used_minutes, 3) as tokens_per_minute,
    round(cost_usd / used_minutes * 60, 6) as hourly_cost_usd,
    case
        when (input_tokens + output_tokens) / used_minutes < 2000 then 'normal'
        when (input_tokens + output_tokens) / used_minutes < 5000 then 'moderate'
        when used_minutes is not null then 'high'
    end as burn_level,
    case when is_active then remaining_minutes end as remaining_minutes,
    case
        when is_active then cast(round(total_tokens + total_tokens / used_minutes * remaining_minutes) as integer)
    end as projected_total_tokens,
    case when is_active then round(cost_usd + cost_usd / used_minutes * remaining_minutes, 6) end as projected_cost_usd
from blocks;
