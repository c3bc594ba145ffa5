select api_responses.api_response_id, api_responses.api_message_id
from touched_responses
cross join api_responses using (api_response_id)
