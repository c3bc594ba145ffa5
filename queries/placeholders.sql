-- Output tokens that are only placeholders
-- How to read: recorded and estimated tokens; versions 2.1.9 to 2.1.52 rarely record the output tokens.
-- Group: data
-- Bar: response_count
select
    messages.version,
    api_responses.usage_quality,
    count(*) as response_count,
    sum(api_responses.output_tokens) as recorded_output_tokens,
    sum(api_responses.estimated_output_tokens) as estimated_output_tokens,
    sum(api_responses.visible_char_count) as visible_char_count
from api_responses
left join messages on messages.message_id = api_responses.message_id
where api_responses.kind = 'message'
group by messages.version, api_responses.usage_quality
order by response_count desc, messages.version, api_responses.usage_quality;
