-- Pages fetched and searches made
-- How to read: the status code is that of the page; a 404 is not an error of the tool.
-- Group: tools
-- :limit number - rows to show; 20 without it
select messages.sent_at, web_requests.kind, coalesce(web_requests.url, web_requests.query) as what, web_requests.status_code,
    web_requests.response_bytes, web_requests.search_count, web_requests.duration_ms, messages.session_id
from web_requests
join tool_results on tool_results.tool_result_id = web_requests.tool_result_id
join messages on messages.message_id = tool_results.message_id
order by messages.sent_at desc, messages.uuid, web_requests.kind, what, web_requests.status_code, web_requests.duration_ms
limit coalesce(nullif(:limit, ''), 20);
