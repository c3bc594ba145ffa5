-- Most expensive days
-- How to read: local days, the most expensive first.
-- Group: cost
-- :limit number - rows to show; 20 without it
-- Bar: cost_usd
select response_date, sum(response_count) as response_count, sum(output_tokens) as output_tokens,
    round(sum(cost_usd), 4) as cost_usd, round(sum(estimated_cost_usd), 4) as estimated_cost_usd
from daily_costs
group by response_date
order by cost_usd desc, response_date
limit coalesce(nullif(:limit, ''), 20);
