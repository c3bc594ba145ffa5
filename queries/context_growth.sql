-- How the context grows in a session
-- How to read: the tokens that each request sent; a fall is a compaction.
-- Group: cache
-- :session - start of a session id; the session with the most requests without it
-- Bar: context_tokens
with chosen as (
    select session_id
    from session_costs
    where session_id like coalesce(nullif(:session, ''), '') || '%'
    order by response_count desc, session_id
    limit 1
)

select
    row_number() over (order by responded_at, api_message_id, output_tokens, context_tokens, cost_usd, model) as request_number,
    responded_at,
    model,
    context_tokens,
    output_tokens,
    cost_usd
from response_costs
where session_id = (select session_id from chosen)
    and agent_run_id is null
order by responded_at, api_message_id, output_tokens, context_tokens, cost_usd, model;
