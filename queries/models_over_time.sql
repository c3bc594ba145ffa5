-- Models over time
-- How to read: responses, tokens and cost of each model by month.
-- Group: cost
-- Bar: cost_usd
-- Total: response_count, output_tokens, cost_usd
select
    substr(response_date, 1, 7) as month,
    model,
    sum(response_count) as response_count,
    sum(output_tokens) as output_tokens,
    round(sum(cost_usd), 4) as cost_usd
from daily_costs
group by month, model
order by month, cost_usd desc, model;
