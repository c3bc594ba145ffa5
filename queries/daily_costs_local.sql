-- Cost per day in your time zone
-- How to read: days begin at your midnight.
-- :offset - hours from UTC, like +02:00; UTC without it
-- :since - first day, like 2026-09-01; all days without it
-- :until - last day; all days without it
-- Bar: cost_usd
select
    date(responded_at, coalesce(nullif(:offset, ''), '+00:00')) as local_date,
    count(*) as response_count,
    sum(output_tokens) as output_tokens,
    round(sum(cost_usd), 4) as cost_usd,
    round(sum(estimated_cost_usd), 4) as estimated_cost_usd
from response_costs
where date(responded_at, coalesce(nullif(:offset, ''), '+00:00')) >= coalesce(nullif(:since, ''), '0000')
    and date(responded_at, coalesce(nullif(:offset, ''), '+00:00')) <= coalesce(nullif(:until, ''), '9999') || 'T99'
group by local_date
order by local_date;
