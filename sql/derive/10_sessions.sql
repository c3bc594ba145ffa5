-- In all these scripts `cross join` keeps the order of the tables: what was touched comes first, and leads by an index to the
-- rest. Without it SQLite may read a whole table for a sync of a few lines.

-- Every session that a line names has a row.
create temp table new_sessions as
select touched_sessions.session_id
from touched_sessions
where not exists (select 1 from sessions where sessions.session_id = touched_sessions.session_id);

insert into sessions (session_id)
select session_id
from new_sessions;

-- A session that another one names may be new: what names it is looked at again.
insert or ignore into touched_sessions (session_id)
select messages.session_id
from touched_sessions
cross join messages on messages.forked_from_session_id = touched_sessions.session_id
where messages.session_id is not null
union
select message_copies.session_id
from touched_sessions
cross join message_copies on message_copies.forked_from_session_id = touched_sessions.session_id
where message_copies.session_id is not null
union
select messages.session_id
from touched_sessions
cross join messages on messages.plan_session_id = touched_sessions.session_id
where messages.session_id is not null
union
select events.session_id
from touched_sessions
cross join events on events.related_session_id = touched_sessions.session_id
where events.session_id is not null;
