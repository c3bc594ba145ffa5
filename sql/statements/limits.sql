-- name: import_limit_sample
insert into limit_samples (limit_name, used_percentage, resets_at, sampled_at)
values (?1, ?2, ?3, ?4)
on conflict (limit_name, resets_at, used_percentage) do update set sampled_at = min(sampled_at, excluded.sampled_at)
where excluded.sampled_at < sampled_at

-- name: list_limit_samples
select limit_name, used_percentage, resets_at, sampled_at
from limit_samples

-- name: has_limit_sample
select exists (
    select 1
    from limit_samples
    where limit_name = ?1 and used_percentage = ?2 and resets_at = ?3
)

-- name: cost_of_today
with clock as (
    select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as now
)

select round(total(cost_usd), 6)
from bi_days
where activity_date = (
    select date(now, (
        select utc_offset from time_zone_offsets where begins_at <= now order by begins_at desc limit 1
    ))
    from clock
)

-- name: active_block
select cost_usd, hourly_cost_usd, burn_level, remaining_minutes
from _blocks
where ended_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    and is_active
order by ended_at desc
limit 1
