insert into api_responses (api_message_id, kind)
values (?1, 'message')
on conflict (api_message_id) do update set api_message_id = excluded.api_message_id
returning api_response_id
