-- One row per API response, with its cost at list prices.
-- Key: api_message_id, id_scope, kind
-- Time: responded_at
-- Columns:
--   machine name
--   api_message_id id
--   id_scope id
--   kind word
--   request_id id
--   session_id id
--   agent_id id
--   agent_type name
--   uuid id
--   project name
--   git_branch name
--   version word
--   model word
--   priced_model word
--   price_origin word
--   usage_quality word
--   input_tokens integer
--   output_tokens integer
--   estimated_output_tokens integer
--   cache_write_tokens integer
--   cache_write_5m_tokens integer
--   cache_write_1h_tokens integer
--   cache_read_tokens integer
--   context_tokens integer
--   total_tokens integer
--   web_search_count integer
--   is_long_context boolean
--   input_cost_usd double
--   output_cost_usd double
--   cache_write_5m_cost_usd double
--   cache_write_1h_cost_usd double
--   cache_read_cost_usd double
--   web_search_cost_usd double
--   computed_cost_usd double
--   recorded_cost_usd double
--   cost_usd double
--   estimated_cost_usd double
--   cache_savings_usd double
--   price_valid_from date
--   day date
--   local_day date
--   local_week date
--   local_month date
--   responded_at timestamp
with machines as materialized (
    select * from _session_machines
)

select
    coalesce(
        machines.machine,
        (
            select _machines.machine
            from files
            join _machines using (source_id)
            where files.file_id = messages.file_id
        ),
        (select min(_machines.machine) from _machines)
    ) as machine,
    response_costs.api_message_id,
    response_costs.id_scope,
    response_costs.kind,
    response_costs.request_id,
    response_costs.session_id,
    agents.agent_id,
    agents.agent_type,
    messages.uuid,
    response_costs.project,
    messages.git_branch,
    messages.version,
    response_costs.model,
    response_costs.priced_model,
    response_costs.price_origin,
    response_costs.usage_quality,
    response_costs.input_tokens,
    response_costs.output_tokens,
    response_costs.estimated_output_tokens,
    response_costs.cache_write_tokens,
    response_costs.cache_write_5m_tokens,
    response_costs.cache_write_1h_tokens,
    response_costs.cache_read_tokens,
    response_costs.context_tokens,
    response_costs.total_tokens,
    response_costs.web_search_count,
    response_costs.is_long_context,
    response_costs.input_cost_usd,
    response_costs.output_cost_usd,
    response_costs.cache_write_5m_cost_usd,
    response_costs.cache_write_1h_cost_usd,
    response_costs.cache_read_cost_usd,
    response_costs.web_search_cost_usd,
    response_costs.computed_cost_usd,
    response_costs.recorded_cost_usd,
    response_costs.cost_usd,
    response_costs.estimated_cost_usd,
    response_costs.cache_savings_usd,
    response_costs.price_valid_from,
    substr(response_costs.responded_at, 1, 10) as day,
    response_costs.response_date as local_day,
    date(response_costs.response_date, 'weekday 0', '-6 days') as local_week, -- its Monday
    date(response_costs.response_date, 'start of month') as local_month,
    response_costs.responded_at
from response_costs
left join machines on machines.session_id = response_costs.session_id
left join agents on agents.agent_run_id = response_costs.agent_run_id
left join messages on messages.message_id = response_costs.message_id
order by 1, response_costs.responded_at, response_costs.api_message_id, response_costs.id_scope, response_costs.kind;
