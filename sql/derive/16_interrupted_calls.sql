-- The result of a call that the person stopped may look like an error. The interrupt mark after it shows the difference.
create temp table interrupted_results as
select marks.tool_result_id, marks.message_id
from (
    select
        _interrupt_marks.tool_result_id, _interrupt_marks.message_id,
        row_number() over (partition by _interrupt_marks.tool_result_id order by messages.uuid) as mark_number
    from _interrupt_marks
    cross join messages using (message_id)
    where _interrupt_marks.is_stopped_call
) as marks
where marks.mark_number = 1;

create index temp.interrupted_results_by_id on interrupted_results (tool_result_id);

-- The mark may have moved to another result.
update tool_results indexed by tool_results_with_mark
set outcome = 'error', interrupt_message_id = null
where interrupt_message_id is not null
    and tool_result_id not in (select tool_result_id from interrupted_results);

update tool_results
set outcome = 'interrupted', interrupt_message_id = interrupted_results.message_id
from interrupted_results
where interrupted_results.tool_result_id = tool_results.tool_result_id
    and tool_results.interrupt_message_id is not interrupted_results.message_id;

-- The call may be in another session.
insert or ignore into touched_sessions (session_id)
select messages.session_id
from interrupted_results
cross join tool_results using (tool_result_id)
cross join tool_uses on tool_uses.tool_use_id = tool_results.tool_use_id
cross join messages on messages.message_id = tool_uses.message_id
where messages.session_id is not null;

drop table interrupted_results;
