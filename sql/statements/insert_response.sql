insert into api_responses (api_message_id, kind)
values (?1, 'message')
on conflict (api_message_id) do nothing
