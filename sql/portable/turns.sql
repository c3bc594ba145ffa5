-- One row per turn: a delivered prompt and everything up to the next one.
-- Reads: owned_turn
select
    owned_turn.session_id,
    owned_turn.turn_number,
    owned_turn.project,
    owned_turn.prompt_id,
    owned_turn.prompt_kind,
    owned_turn.permission_mode,
    owned_turn.model,
    owned_turn.message_count,
    owned_turn.response_count,
    owned_turn.tool_call_count,
    owned_turn.recorded_duration_ms,
    owned_turn.input_tokens,
    owned_turn.output_tokens,
    owned_turn.cache_write_tokens,
    owned_turn.cache_read_tokens,
    owned_turn.total_tokens,
    owned_turn.context_tokens,
    owned_turn.cost_usd,
    owned_turn.unpriced_count,
    owned_turn.duration_ms,
    owned_turn.is_interrupted,
    owned_turn.started_at,
    owned_turn.ended_at
from owned_turn
