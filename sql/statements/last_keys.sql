select
    (select coalesce(max(message_id), 0) from messages),
    (select coalesce(max(block_id), 0) from content_blocks),
    (select coalesce(max(event_id), 0) from events),
    (select coalesce(max(tool_result_id), 0) from tool_results),
    (select coalesce(max(history_prompt_id), 0) from history_prompts),
    (select coalesce(max(api_response_id), 0) from api_responses)
