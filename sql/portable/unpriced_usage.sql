-- One row per model without a known price and machine: its cost is NULL everywhere, never 0.
-- Reads: owned_response
select
    owned_response.model,
    owned_response.priced_model,
    owned_response.machine,
    count(*) as response_count,
    sum(owned_response.input_tokens) as input_tokens,
    sum(owned_response.output_tokens) as output_tokens,
    sum(owned_response.cache_write_tokens) as cache_write_tokens,
    sum(owned_response.cache_read_tokens) as cache_read_tokens,
    min(owned_response.responded_at) as first_responded_at,
    max(owned_response.responded_at) as last_responded_at
from owned_response
where owned_response.cost_usd is null
group by owned_response.model, owned_response.priced_model, owned_response.machine
