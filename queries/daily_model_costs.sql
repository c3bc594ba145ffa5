-- Cost by day and model
-- How to read: local days; the cost of each model at list prices.
-- Group: cost
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- Bar: cost_usd
-- Chart: columns response_date cost_usd model
select
    response_date,
    model,
    sum(response_count) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    round(sum(cost_usd), 6) as cost_usd
from daily_costs
where response_date >= coalesce(nullif(:since, ''), '0000')
    and response_date <= coalesce(nullif(:until, ''), '9999')
group by response_date, model
order by response_date, cost_usd desc, model;
