-- Judge each prompt once. Prompts with an old row are those whose message changed.
delete from _correction_reasons
where message_id > (select last_message_id from counted_rows);

delete from _correction_reasons
where message_id in (select message_id from touched_messages);

insert into _correction_reasons (message_id, correction_reason)
select message_id, correction_reason
from _judged_prompts
where session_id in (select session_id from touched_sessions)
    and (
        message_id > (select last_message_id from counted_rows)
        or message_id in (select message_id from touched_messages)
    )
    and kind = 'human'
    and delivery <> 'beside_result'
    and not is_trivial;
