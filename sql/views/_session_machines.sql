create view _session_machines as
-- One row per session with a message, with the machine that recorded the first one.
select
    firsts.session_id,
    (
        select min(_machines.machine)
        from messages
        cross join files on files.file_id = messages.file_id
        cross join _machines on _machines.source_id = files.source_id
        where messages.session_id = firsts.session_id and messages.sent_at is firsts.sent_at
    ) as machine
from (
    select messages.session_id, min(messages.sent_at) as sent_at
    from messages
    where messages.session_id is not null
    group by messages.session_id
) as firsts;
