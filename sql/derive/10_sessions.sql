-- In all these scripts `cross join` fixes the join order: the touched keys come first and find the other rows through
-- indexes. Without it SQLite may scan a whole table for a sync of a few lines.

-- A session that only an earlier version of a document named has no row, as after a rebuild.
create temp table unnamed_sessions as
select retired_hints.session_id
from retired_hints
where not exists (
    select 1 from _session_references where _session_references.session_id = retired_hints.session_id
);
delete from sessions
where session_id in (select session_id from unnamed_sessions);

-- Every other session named in a line or a file has a row.
insert or ignore into sessions (session_id)
select session_id
from touched_sessions
where session_id not in (select session_id from unnamed_sessions);
drop table unnamed_sessions;

-- A session named by others may be new: derive those others again.
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

-- A session may depend on lines of another session: results and agents on their call, a message on its parent.
create temp table changed_calls as
select tool_uses.tool_use_id
from counted_rows
cross join tool_uses indexed by tool_uses_by_message on tool_uses.message_id > counted_rows.last_message_id
where not counted_rows.touches_all
union
select tool_uses.tool_use_id
from touched_messages
cross join tool_uses using (message_id)
union
select tool_use_id
from touched_tool_uses;

insert or ignore into touched_sessions (session_id)
select messages.session_id
from changed_calls
cross join tool_uses using (tool_use_id)
cross join messages using (message_id)
where messages.session_id is not null
union
select messages.session_id
from changed_calls
cross join tool_results on tool_results.tool_use_id = changed_calls.tool_use_id
cross join messages on messages.message_id = tool_results.message_id
where messages.session_id is not null
union
select messages.session_id
from changed_calls -- one that is gone
cross join tool_results on tool_results.source_tool_use_id = changed_calls.tool_use_id and tool_results.tool_use_id is null
cross join messages on messages.message_id = tool_results.message_id
where messages.session_id is not null
union
select agents.session_id
from changed_calls
cross join agents on agents.spawned_by_tool_use_id = changed_calls.tool_use_id
union
select agent_links.session_id
from changed_calls
cross join agent_links on agent_links.source_tool_use_id = changed_calls.tool_use_id
union
select agents.session_id
from changed_calls
cross join agent_metas using (tool_use_id)
cross join agents using (session_id, agent_id)
union
select messages.session_id
from touched_messages
cross join messages using (message_id)
where messages.session_id is not null
union
select messages.session_id
from touched_messages
cross join messages on messages.parent_message_id = touched_messages.message_id
where messages.session_id is not null
union
select messages.session_id
from messages indexed by messages_without_parent
where messages.parent_message_id is null
    and messages.parent_uuid is not null
    and messages.session_id is not null
    and exists (select 1 from messages as parent where parent.uuid = messages.parent_uuid);
