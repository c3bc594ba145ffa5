-- What was corrected
-- How to read: prompts that object to the response before them, why they count as a correction, and that response.
-- Group: feedback
-- :limit number - rows to show; 20 without it
select feedback.said_at, feedback.project, feedback.text, feedback.correction_reason,
    feedback.model, substr(conversation.text, 1, 300) as response,
    conversation.tool_calls, feedback.session_id
from feedback
left join conversation on conversation.message_id = feedback.about_message_id
where feedback.kind = 'correction'
order by feedback.said_at desc, feedback.session_id, feedback.text, feedback.model, response, conversation.tool_calls
limit coalesce(nullif(:limit, ''), 20);
