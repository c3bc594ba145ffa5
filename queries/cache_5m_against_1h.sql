-- Cache: five minutes against one hour
-- How to read: one-hour writes cost 2 times the input, five-minute ones 1.25 times; they pay off when pauses are long.
-- Group: cache
-- Total: cache_write_5m_tokens, cache_write_1h_tokens, cache_write_5m_cost_usd, cache_write_1h_cost_usd, if_all_5m_cost_usd, cache_read_cost_usd
select
    model,
    sum(cache_write_5m_tokens) as cache_write_5m_tokens,
    sum(cache_write_1h_tokens) as cache_write_1h_tokens,
    round(sum(cache_write_5m_cost_usd), 4) as cache_write_5m_cost_usd,
    round(sum(cache_write_1h_cost_usd), 4) as cache_write_1h_cost_usd,
    round(sum(cache_write_1h_cost_usd) * 1.25 / 2, 4) as if_all_5m_cost_usd, -- what the one-hour writes would have cost
    round(sum(cache_read_cost_usd), 4) as cache_read_cost_usd
from response_costs
group by model
order by cache_write_1h_cost_usd desc, model;
