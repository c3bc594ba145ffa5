select
    date(response_date, 'weekday 0', '-6 days') as week_start_date,
    count(distinct session_id) as session_count,
    count(*) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    sum(cost_usd) as cost_usd,
    sum(cost_usd is null) as unpriced_count
from response_costs
group by 1;
