select
    response_date,
    project,
    model,
    machine,
    count(*) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    sum(cost_usd) as cost_usd,
    sum(estimated_cost_usd) as estimated_cost_usd,
    sum(cache_savings_usd) as cache_savings_usd,
    sum(cost_usd is null) as unpriced_count
from response_costs
group by 1, 2, 3, 4;
