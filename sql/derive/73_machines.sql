-- The machine that the first message of a session was recorded on.
create temp table session_machines as
select
    touched_sessions.session_id,
    (
        select min(sources.machine)
        from messages
        cross join files on files.file_id = messages.file_id
        cross join sources on sources.source_id = files.source_id
        where messages.session_id = touched_sessions.session_id
            and messages.sent_at is (
                select min(sent_at) from messages where messages.session_id = touched_sessions.session_id
            )
    ) as machine
from touched_sessions;

create index temp.session_machines_by_session on session_machines (session_id);
