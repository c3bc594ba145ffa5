-- Claude Code's own web searches are separate calls; the usage of the response counts 0 of them.
update api_responses
set web_search_count = searched.search_count
from (
    select messages.api_response_id, sum(web_requests.search_count) as search_count
    from touched_responses
    cross join messages using (api_response_id)
    cross join tool_uses using (message_id)
    cross join tool_results on tool_results.tool_use_id = tool_uses.tool_use_id
    cross join web_requests using (tool_result_id)
    where web_requests.kind = 'search'
    group by messages.api_response_id
) as searched
where searched.api_response_id = api_responses.api_response_id
    and coalesce(api_responses.web_search_count, 0) = 0;

-- An advisor asked within a response is its own response with its own model.
delete from api_responses
where kind = 'advisor'
    and parent_api_response_id in (select api_response_id from touched_responses);

create temp table advisors as
select
    usage_lines.api_response_id,
    iterations.key as iteration_number,
    iterations.value as usage_json,
    json_extract(iterations.value, '$.model') as model
from touched_responses
cross join usage_lines using (api_response_id)
cross join json_each(usage_lines.extra_json, '$.iterations') as iterations
where usage_lines.is_counted = 1
    and json_type(usage_lines.extra_json, '$.iterations') = 'array'
    and iterations.type = 'object'
    and json_extract(iterations.value, '$.type') = 'advisor_message';

insert into api_responses (
    api_message_id, id_scope, parent_api_response_id, message_id, session_id, agent_run_id, kind, request_id, model, service_tier, speed,
    inference_geo, usage_quality, input_tokens, output_tokens, cache_write_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, cache_read_tokens, line_count, responded_at
)
select
    api_responses.api_message_id || '#' || advisors.iteration_number,
    api_responses.id_scope,
    api_responses.api_response_id,
    api_responses.message_id,
    api_responses.session_id,
    api_responses.agent_run_id,
    'advisor',
    api_responses.request_id,
    coalesce(advisors.model, api_responses.model),
    api_responses.service_tier,
    api_responses.speed,
    api_responses.inference_geo,
    'final',
    usage_number(advisors.usage_json, 'input_tokens'),
    usage_number(advisors.usage_json, 'output_tokens'),
    coalesce(usage_number(advisors.usage_json, 'cache_write_tokens'), 0),
    usage_number(advisors.usage_json, 'cache_write_5m_tokens'),
    usage_number(advisors.usage_json, 'cache_write_1h_tokens'),
    usage_number(advisors.usage_json, 'cache_read_tokens'),
    api_responses.line_count,
    api_responses.responded_at
from advisors
join api_responses using (api_response_id);

drop table advisors;

-- The name under which each model is priced.
insert into model_aliases (model_name, model, regional_model, origin)
select named.model, priced_model(named.model), regional_model(named.model), 'builtin'
from (
    select usage_lines.model
    from touched_responses
    cross join usage_lines using (api_response_id)
    union
    select json_extract(iterations.value, '$.model')
    from touched_responses
    cross join usage_lines using (api_response_id)
    cross join json_each(usage_lines.extra_json, '$.iterations') as iterations
    where json_type(usage_lines.extra_json, '$.iterations') = 'array'
        and iterations.type = 'object'
) as named
where typeof(named.model) = 'text'
on conflict (model_name) do nothing;
