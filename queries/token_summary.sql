-- Tokens by kind
-- How to read: cache reads are most of all tokens, and the cheapest; look at the shares of the cost.
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- Bar: cost_usd
select
    model,
    count(*) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    round(sum(input_cost_usd), 4) as input_cost_usd,
    round(sum(output_cost_usd), 4) as output_cost_usd,
    round(sum(cache_write_5m_cost_usd + cache_write_1h_cost_usd), 4) as cache_write_cost_usd,
    round(sum(cache_read_cost_usd), 4) as cache_read_cost_usd,
    round(sum(cost_usd), 4) as cost_usd
from response_costs
where response_date >= coalesce(nullif(:since, ''), '0000')
    and response_date <= coalesce(nullif(:until, ''), '9999')
group by model
order by cost_usd desc, model;
