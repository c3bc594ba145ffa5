create view unpriced_usage as
-- One row per model without a known price and machine: its cost is NULL everywhere, never 0.
select
    model,
    priced_model, -- name to set a price for with `cc-etl prices import`
    machine,
    count(*) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    min(responded_at) as first_responded_at,
    max(responded_at) as last_responded_at
from response_costs
where cost_usd is null
group by model, priced_model, machine;
