-- Responses with the most tokens
-- How to read: one row is one request; a large cache_read is a long conversation, a large cache_write a cold cache.
-- Group: cache
-- :limit number - rows to show; 20 without it
-- Bar: context_tokens
select responded_at, model, input_tokens + cache_read_tokens + cache_write_tokens as context_tokens, output_tokens,
    cache_write_tokens, cache_read_tokens, cost_usd, session_id
from response_costs
order by coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + coalesce(cache_write_tokens, 0) + coalesce(cache_read_tokens, 0) desc,
    api_message_id, session_id, responded_at, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd, model
limit coalesce(nullif(:limit, ''), 20);
