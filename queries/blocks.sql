-- Blocks of five hours
-- How to read: newest first; a block begins at the full hour (UTC) of its first response, and a gap is more than five hours without one. The active block is projected to its end at its rate so far. Limits are those of the account: blocks estimate them.
-- Group: cost
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :active - yes shows only the active block; no without it
-- Bar: total_tokens
-- Chart: columns started_at total_tokens
-- Total: response_count, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, total_tokens, cost_usd, unpriced_count
with blocks as (
    select
        usage_blocks.*,
        date(started_at, (
            select utc_offset from time_zone_offsets where begins_at <= started_at order by begins_at desc limit 1
        )) as started_date
    from usage_blocks
)

select
    started_at,
    ended_at,
    case when is_gap then 'gap' when is_active then 'active' else 'ended' end as state,
    total_tokens,
    round(cost_usd, 4) as cost_usd,
    remaining_minutes,
    cast(round(tokens_per_minute) as integer) as tokens_per_minute,
    burn_level,
    round(hourly_cost_usd, 4) as hourly_cost_usd,
    projected_total_tokens,
    round(projected_cost_usd, 4) as projected_cost_usd,
    largest_share,
    response_count,
    input_tokens,
    output_tokens,
    cache_write_tokens,
    cache_read_tokens,
    unpriced_count,
    models
from blocks
where started_date between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
    and (is_active or coalesce(nullif(:active, ''), 'no') = 'no')
order by ended_at desc;
