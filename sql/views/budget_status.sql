create view budget_status as
-- One row per budget: what its current period has cost so far, and what it will cost if it goes on like this.
with clock as (
    select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as now
),

today as (
    select datetime(now, (
        select utc_offset from time_zone_offsets where begins_at <= now order by begins_at desc limit 1
    )) as local_now
    from clock
),

periods as (
    select 'day' as period, local_now, date(local_now) as first_date, date(local_now) as last_date
    from today
    union all
    select 'week', local_now, date(local_now, 'weekday 0', '-6 days'), date(local_now, 'weekday 0')
    from today
    union all
    select 'month', local_now, date(local_now, 'start of month'), date(local_now, 'start of month', '+1 month', '-1 day')
    from today
),

sums as (
    select
        budgets.project,
        budgets.period,
        budgets.limit_usd,
        periods.first_date,
        periods.last_date,
        (julianday(periods.local_now) - julianday(periods.first_date))
            / (julianday(periods.last_date, '+1 day') - julianday(periods.first_date)) as elapsed,
        (
            select round(total(bi_days.cost_usd), 6)
            from bi_days
            where bi_days.activity_date between periods.first_date and periods.last_date
                and budgets.project in ('', bi_days.project)
        ) as spent_usd,
        (
            select coalesce(sum(bi_days.unpriced_count), 0)
            from bi_days
            where bi_days.activity_date between periods.first_date and periods.last_date
                and budgets.project in ('', bi_days.project)
        ) as unpriced_count
    from budgets
    join periods on periods.period = budgets.period
),

projections as (
    select
        sums.*,
        round(coalesce(spent_usd / nullif(elapsed, 0), spent_usd), 6) as projected_usd
    from sums
)

select
    project, -- '' for all projects together
    period,
    first_date as period_start_date, -- local
    last_date as period_end_date, -- local, the last day
    limit_usd,
    spent_usd,
    round(spent_usd / limit_usd, 4) as spent_share, -- of the limit
    round(elapsed, 4) as elapsed_share, -- of the period
    projected_usd, -- at the end of the period, at its rate so far
    case
        when spent_usd > limit_usd then 'over'
        when projected_usd > limit_usd then 'ahead'
        else 'within'
    end as state, -- over the limit; within it, but not at the end if it goes on like this; within it
    unpriced_count -- responses of the period without a known price, which are not in spent_usd
from projections;
