create view _message_machines as
-- One row per message, with the name of the machine that it belongs to, as in _session_machines.
select
    owned.message_id,
    coalesce(
        (select bi_sessions.machine from bi_sessions where bi_sessions.session_id = owned.session_id),
        owned.file_machine
    ) as machine,
    owned.file_machine -- of its file
from (
    select
        messages.message_id,
        messages.session_id,
        (
            select sources.machine
            from files
            cross join sources on sources.source_id = files.source_id
            where files.file_id = messages.file_id
        ) as file_machine
    from messages
) as owned;
