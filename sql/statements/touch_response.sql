insert or ignore into touched_responses (api_response_id)
values (?1)
