create view _session_machines as
-- One row per session, with the machine that it belongs to: the one with its first message; without a message, the one with
-- its files. Whatever has a session belongs to the machine of that session, and anything else to that of its file.
select
    sessions.session_id,
    _machines.machine,
    _machines.machine_name
from sessions
join _machines on _machines.source_id = coalesce(
    (
        select homes.source_id
        from messages
        cross join files on files.file_id = messages.file_id
        cross join _machines as homes on homes.source_id = files.source_id
        where messages.session_id = sessions.session_id
            and messages.sent_at is (
                select min(firsts.sent_at) from messages as firsts where firsts.session_id = sessions.session_id
            )
        order by homes.machine, homes.machine_name
        limit 1
    ),
    (
        select homes.source_id
        from files
        cross join _machines as homes on homes.source_id = files.source_id
        where files.session_id = sessions.session_id
        order by homes.machine, homes.machine_name
        limit 1
    )
);
