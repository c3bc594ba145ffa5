select api_response_id
from api_responses
where api_message_id = ?1
