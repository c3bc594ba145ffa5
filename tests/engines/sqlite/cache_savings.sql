select
    date(response_date, 'start of month') as month_start_date,
    model,
    sum(input_tokens) as input_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    sum(cost_usd) as cost_usd,
    sum(cache_savings_usd) as cache_savings_usd
from response_costs
group by 1, 2;
