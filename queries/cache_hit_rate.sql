-- Cache: how much is read from it
-- How to read: the share of input that came from the cache, and what that saved; below 0.9 in long sessions the cache is often cold.
-- Group: cache
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- Bar: hit_rate
-- Total: cache_read_tokens, cache_write_tokens, input_tokens, cache_savings_usd
-- Chart: lines response_date hit_rate
select
    response_date,
    sum(cache_read_tokens) as cache_read_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(input_tokens) as input_tokens,
    round(1.0 * sum(cache_read_tokens) / nullif(sum(cache_read_tokens) + sum(cache_write_tokens) + sum(input_tokens), 0), 4)
        as hit_rate,
    round(sum(cache_savings_usd), 4) as cache_savings_usd -- against the same prompts without a cache
from response_costs
where response_date >= coalesce(nullif(:since, ''), '0000')
    and response_date <= coalesce(nullif(:until, ''), '9999')
group by response_date
order by response_date;
