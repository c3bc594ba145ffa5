-- This week against last week
-- How to read: weeks begin on Monday; this week ends with the day that was asked for.
-- Group: cost
-- :until last_day - last local day of this week; today without it
-- Bar: cost_usd
with clock as (
    select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as now
),

last_day as (
    select coalesce(nullif(:until, ''), date(now, (
        select utc_offset from time_zone_offsets where begins_at <= now order by begins_at desc limit 1
    ))) as day
    from clock
),

weeks as (
    select 'this week' as week, date(day, 'weekday 0', '-6 days') as begins_on, day as ends_on
    from last_day
    union all
    select 'last week', date(day, 'weekday 0', '-13 days'), date(day, 'weekday 0', '-7 days')
    from last_day
)

select
    weeks.week,
    count(distinct response_costs.response_date) as day_count,
    count(distinct response_costs.session_id) as session_count,
    count(response_costs.api_response_id) as response_count,
    coalesce(sum(response_costs.output_tokens), 0) as output_tokens,
    coalesce(round(sum(response_costs.cost_usd), 4), 0.0) as cost_usd,
    coalesce(round(sum(case when response_costs.agent_run_id is not null then response_costs.cost_usd end), 4), 0.0)
        as agent_cost_usd
from weeks
left join response_costs on response_costs.response_date between weeks.begins_on and weeks.ends_on
group by weeks.week
order by weeks.week desc;
