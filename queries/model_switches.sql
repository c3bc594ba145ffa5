-- Switches of the model within a session
-- How to read: newest first; the first response of the new model, which has to write the context into a cache of its own.
-- Group: cache
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
with responses as (
    select
        *,
        lag(model) over (
            partition by session_id, agent_run_id
            order by responded_at, api_message_id, model, context_tokens
        ) as previous_model
    from response_costs
    where kind = 'message'
)

select responded_at, previous_model || ' -> ' || model as models, context_tokens, cache_write_tokens, cost_usd, project, session_id
from responses
where previous_model <> model
    and session_id is not null
    and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
order by responded_at desc, session_id, api_message_id, models, context_tokens, cache_write_tokens, cost_usd
limit coalesce(nullif(:limit, ''), 20);
