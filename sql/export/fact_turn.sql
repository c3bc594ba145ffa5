-- One row per turn: a delivered prompt and everything up to the next one.
-- Key: session_id, turn_number
-- Time: started_at
-- Columns:
--   machine name
--   session_id id
--   turn_number integer
--   uuid id
--   prompt_id id
--   project name
--   prompt_kind word
--   permission_mode word
--   model word
--   message_count integer
--   response_count integer
--   tool_call_count integer
--   input_tokens integer
--   output_tokens integer
--   cache_write_tokens integer
--   cache_read_tokens integer
--   total_tokens integer
--   context_tokens integer
--   cost_usd double
--   unpriced_count integer
--   duration_ms integer
--   recorded_duration_ms integer
--   is_interrupted boolean
--   day date
--   local_day date
--   started_at timestamp
--   ended_at timestamp
--   prompt content
with machines as materialized (
    select * from _session_machines
)

select
    machines.machine,
    turns.session_id,
    turns.turn_number,
    messages.uuid,
    turns.prompt_id,
    turns.project,
    turns.prompt_kind,
    turns.permission_mode,
    turns.model,
    turns.message_count,
    turns.response_count,
    turns.tool_call_count,
    turns.input_tokens,
    turns.output_tokens,
    turns.cache_write_tokens,
    turns.cache_read_tokens,
    turns.total_tokens,
    turns.context_tokens,
    turns.cost_usd,
    turns.unpriced_count,
    turns.duration_ms,
    turns.recorded_duration_ms,
    turns.is_interrupted,
    substr(turns.started_at, 1, 10) as day,
    date(turns.started_at, (
        select utc_offset from time_zone_offsets where begins_at <= turns.started_at order by begins_at desc limit 1
    )) as local_day,
    turns.started_at,
    turns.ended_at,
    turns.prompt
from turns
join machines on machines.session_id = turns.session_id
left join messages on messages.message_id = turns.message_id
order by 1, turns.started_at, turns.session_id, turns.turn_number;
