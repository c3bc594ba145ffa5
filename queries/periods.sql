-- Today, the last 7 days and this month
-- How to read: local days, today included; `before` is the period of the same length before it, of a month its first days; the trend is by day.
-- Group: cost
-- :today last_day - the day that counts as today; the current day without it
-- Bar: cost_usd
with recursive clock as (
    select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as now
),

today as (
    select coalesce(nullif(:today, ''), date(now, (
        select utc_offset from time_zone_offsets where begins_at <= now order by begins_at desc limit 1
    ))) as day
    from clock
),

periods as (
    select 1 as position, 'today' as period, day as first_day, day as last_day, date(day, '-1 day') as first_before,
        date(day, '-1 day') as last_before
    from today
    union all
    select 2, 'last 7 days', date(day, '-6 days'), day, date(day, '-13 days'), date(day, '-7 days')
    from today
    union all
    select 3, 'this month', date(day, 'start of month'), day, date(day, 'start of month', '-1 month'),
        min(date(day, 'start of month', '-1 month', '+' || (strftime('%d', day) - 1) || ' days'),
            date(day, 'start of month', '-1 day'))
    from today
),

-- The days that any period needs.
days as (
    select activity_date as day, session_id,
        sum(input_tokens + output_tokens + cache_write_tokens + cache_read_tokens) as total_tokens, sum(cost_usd) as cost_usd
    from bi_session_days
    where activity_date >= (select min(first_before) from periods)
    group by activity_date, session_id
),

costs as (
    select periods.period, days.day, total(days.cost_usd) as cost_usd
    from periods
    join days on days.day between periods.first_day and periods.last_day
    group by periods.period, days.day
),

shares as (
    select period, day, coalesce(cost_usd / nullif(max(cost_usd) over (partition by period), 0), 0) as share
    from costs
),

-- The days of each period; one alone has no trend.
calendar as (
    select period, first_day as day, last_day
    from periods
    where first_day < last_day
    union all
    select period, date(day, '+1 day'), last_day
    from calendar
    where day < last_day
),

said as (
    select said_date as day, count(*) as prompt_count
    from bi_feedback
    where kind in ('prompt', 'queued_prompt', 'correction')
        and said_date >= (select min(first_before) from periods)
    group by said_date
)

select
    period,
    (select round(total(cost_usd), 4) from days where day between first_day and last_day) as cost_usd,
    (select round(total(cost_usd), 4) from days where day between first_before and last_before) as before_usd,
    (
        select group_concat(substr('▁▂▃▄▅▆▇█', 1 + cast(round(7 * coalesce(share, 0)) as integer), 1), '')
        from (
            select shares.share
            from calendar
            left join shares on shares.period = calendar.period and shares.day = calendar.day
            where calendar.period = periods.period
            order by calendar.day
        )
    ) as cost_trend,
    (select coalesce(sum(total_tokens), 0) from days where day between first_day and last_day) as total_tokens,
    (select count(distinct nullif(session_id, '')) from days where day between first_day and last_day) as session_count,
    (select coalesce(sum(prompt_count), 0) from said where day between first_day and last_day) as prompt_count
from periods
order by position;
