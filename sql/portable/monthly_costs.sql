-- One row per local month, with its first day; a session of two months is counted in both.
-- Reads: owned_response
select
    owned_response.local_month as month_start_date,
    count(distinct owned_response.session_id) as session_count,
    count(*) as response_count,
    sum(owned_response.input_tokens) as input_tokens,
    sum(owned_response.output_tokens) as output_tokens,
    sum(owned_response.cache_write_tokens) as cache_write_tokens,
    sum(owned_response.cache_read_tokens) as cache_read_tokens,
    sum(owned_response.cost_usd) as cost_usd,
    sum(case when owned_response.cost_usd is null then 1 else 0 end) as unpriced_count
from owned_response
group by owned_response.local_month
