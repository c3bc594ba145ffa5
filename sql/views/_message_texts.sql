create view _message_texts as
-- One row per message, with its text: prompt_text, else its text blocks joined with newlines. Truncated to 1,000,000
-- characters; content_blocks has the whole text.
select
    messages.message_id,
    substr(coalesce(messages.prompt_text, (
        select group_concat(text, char(10))
        from (
            select substr(content_blocks.text, 1, (select text_characters from _limits)) as text
            from content_blocks
            where content_blocks.message_id = messages.message_id
                and content_blocks.type = 'text'
                and content_blocks.part_number = 0
            order by content_blocks.position
        )
    )), 1, (select text_characters from _limits)) as text
from messages;
