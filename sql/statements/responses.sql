-- name: find_response
select api_response_id
from api_responses
where api_message_id = ?1 and id_scope = ?2 and kind = 'message'

-- name: find_response_of_line
select api_response_id
from usage_lines
where file_id = ?1 and byte_offset = ?2

-- name: find_touched_responses
select api_responses.api_response_id, api_responses.api_message_id, api_responses.id_scope
from touched_responses
cross join api_responses using (api_response_id)
where api_responses.kind = 'message'

-- name: find_usage_lines
-- The lines of a response, with what tells them apart. Columns are read in this order.
select
    usage_lines.usage_line_id,
    usage_lines.message_id,
    usage_lines.event_id,
    usage_lines.file_id,
    usage_lines.line_number,
    usage_lines.byte_offset,
    usage_lines.session_id,
    usage_lines.agent_run_id,
    usage_lines.request_id,
    usage_lines.model,
    usage_lines.service_tier,
    usage_lines.speed,
    usage_lines.inference_geo,
    usage_lines.stop_reason,
    usage_lines.duplicate_reason,
    usage_lines.input_tokens,
    usage_lines.output_tokens,
    usage_lines.cache_write_tokens,
    usage_lines.cache_write_5m_tokens,
    usage_lines.cache_write_1h_tokens,
    usage_lines.cache_read_tokens,
    usage_lines.thinking_tokens,
    usage_lines.web_search_count,
    usage_lines.visible_char_count,
    usage_lines.recorded_cost_usd,
    usage_lines.is_progress,
    usage_lines.is_sidechain,
    usage_lines.is_fork,
    usage_lines.is_counted,
    usage_lines.sent_at,
    messages.version,
    files.path,
    sources.machine_id,
    sources.root_path,
    files.generation
from usage_lines
cross join files using (file_id)
cross join sources using (source_id)
left join messages on messages.message_id = usage_lines.message_id
where usage_lines.api_response_id = ?1

-- name: judge_usage_line
update usage_lines
set
    is_counted = ?2,
    duplicate_reason = ?3
where usage_line_id = ?1

-- name: name_model
insert into model_aliases (model_name, model, regional_model, origin)
values (?1, priced_model(?1), regional_model(?1), 'builtin')
on conflict (model_name) do nothing

-- name: touch_responses_of_message
insert or ignore into touched_responses (api_response_id)
select api_response_id
from usage_lines
where message_id = ?1
