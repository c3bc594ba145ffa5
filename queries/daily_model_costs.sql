-- Cost by day and model
-- How to read: local days; the cost of each model at list prices.
-- Group: cost
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- Bar: cost_usd
-- Chart: columns response_date cost_usd model
select response_date, model, response_count, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd
from daily_costs
where response_date >= coalesce(nullif(:since, ''), '0000')
    and response_date <= coalesce(nullif(:until, ''), '9999')
order by response_date, cost_usd desc, model;
