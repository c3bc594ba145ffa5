-- Exactly one line of a response is counted, every other says why not, and the numbers are the counted line's.
select api_responses.api_message_id, 'counted lines: ' || sum(usage_lines.is_counted) as problem
from api_responses
left join usage_lines using (api_response_id)
where api_responses.kind = 'message'
group by api_responses.api_response_id
having coalesce(sum(usage_lines.is_counted), 0) <> 1
union all
select api_responses.api_message_id, 'a line says nothing of why it is not counted'
from usage_lines
join api_responses using (api_response_id)
where usage_lines.is_counted = (usage_lines.duplicate_reason is not null)
union all
select api_responses.api_message_id, 'numbers are not those of the counted line'
from usage_lines
join api_responses using (api_response_id)
where usage_lines.is_counted
    and (
        usage_lines.model is not api_responses.model
        or usage_lines.input_tokens is not api_responses.input_tokens
        or usage_lines.output_tokens is not api_responses.output_tokens
        or usage_lines.cache_write_tokens is not api_responses.cache_write_tokens
        or usage_lines.cache_read_tokens is not api_responses.cache_read_tokens
    )
