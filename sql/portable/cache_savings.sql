-- One row per local month and model: what was read from the cache, and what that saved against prompts without a cache.
-- Reads: owned_response
select
    owned_response.local_month as month_start_date,
    owned_response.model,
    sum(owned_response.input_tokens) as input_tokens,
    sum(owned_response.cache_write_tokens) as cache_write_tokens,
    sum(owned_response.cache_read_tokens) as cache_read_tokens,
    sum(owned_response.cost_usd) as cost_usd,
    sum(owned_response.cache_savings_usd) as cache_savings_usd
from owned_response
group by owned_response.local_month, owned_response.model
