-- The year, day by day
-- How to read: local days; the stronger the colour, the more a day cost.
-- Group: conversation
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- Bar: cost_usd
-- Chart: calendar response_date cost_usd
select
    response_date,
    sum(response_count) as response_count,
    sum(input_tokens + output_tokens + cache_write_tokens + cache_read_tokens) as total_tokens,
    round(sum(cost_usd), 4) as cost_usd
from daily_costs
where response_date >= coalesce(nullif(:since, ''), '0000')
    and response_date <= coalesce(nullif(:until, ''), '9999')
group by response_date
order by response_date;
