-- The BI tables, for the touched sessions. Rows without a session have the key ''. Long sessions are summed in parts
-- (sql/schema.sql), and only changed parts are summed again.

-- A response may have moved to another session.
insert or ignore into touched_sessions (session_id)
select api_responses.session_id
from touched_responses
cross join api_responses using (api_response_id)
where api_responses.session_id is not null;

-- Parts with new or changed messages.
create temp table touched_parts (part_number integer primary key);

insert into touched_parts (part_number)
with recursive new_parts as (
    select (last_message_id + 1) >> 8 as part_number, (select max(message_id) >> 8 from messages) as last_part_number
    from counted_rows
    where last_message_id < (select max(message_id) from messages)
    union all
    select part_number + 1, last_part_number
    from new_parts
    where part_number < last_part_number
)

select part_number
from new_parts
union
select message_id >> 8
from touched_messages;

create temp table touched_response_parts (part_number integer primary key);

insert into touched_response_parts (part_number)
with recursive new_parts as (
    select
        (last_api_response_id + 1) >> 8 as part_number,
        (select max(api_response_id) >> 8 from api_responses) as last_part_number
    from counted_rows
    where last_api_response_id < (select max(api_response_id) from api_responses)
    union all
    select part_number + 1, last_part_number
    from new_parts
    where part_number < last_part_number
)

select part_number
from new_parts
union
select api_response_id >> 8
from changed_responses;
