select coalesce(max(api_response_id), 0)
from api_responses
