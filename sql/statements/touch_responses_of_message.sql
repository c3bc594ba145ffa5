insert or ignore into touched_responses (api_response_id)
select api_response_id
from usage_lines
where message_id = ?1
