-- Claude Code's own web searches are separate calls, whose results may arrive after the response.
insert or ignore into touched_responses (api_response_id)
select messages.api_response_id
from touched_tool_uses
cross join tool_uses using (tool_use_id)
cross join messages using (message_id)
where messages.api_response_id is not null;

-- A call may have moved to another message, and its searches with it.
insert or ignore into touched_responses (api_response_id)
select messages.api_response_id
from touched_messages
cross join messages using (message_id)
cross join api_responses using (api_response_id)
where api_responses.web_search_count > 0;

-- A response may move to another session.
insert or ignore into touched_sessions (session_id)
select api_responses.session_id
from touched_responses
cross join api_responses using (api_response_id)
where api_responses.session_id is not null;
