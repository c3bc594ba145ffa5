-- The reasons of corrections are those of these phrases.
insert into settings (setting, value)
select 'judged_with', phrases
from _used_phrases
where true
on conflict (setting) do update
set value = excluded.value
where value <> excluded.value;

-- The machines of the touched sessions.
create temp table session_machines as
select
    touched_sessions.session_id,
    (
        select _session_machines.machine_name
        from _session_machines
        where _session_machines.session_id = touched_sessions.session_id
    ) as machine
from touched_sessions;

create index temp.session_machines_by_session on session_machines (session_id);

-- A session of which only history.jsonl tells has no row in sessions.
insert or ignore into touched_said_sessions (session_id)
select session_id
from touched_sessions;

-- Signals from the person, as in the view feedback.
delete from bi_feedback
where session_id in (select session_id from touched_said_sessions union all select '');

insert into bi_feedback (
    session_id, signal_number, kind, tool_name, tool_use_id, model, agent_type, git_branch, project, machine, text_length,
    is_trivial, said_date, said_at, said_unix
)
with signals as (
    select * from feedback where session_id in (select session_id from touched_said_sessions)
    union all
    select * from feedback where session_id is null
)

select
    coalesce(signals.session_id, ''),
    row_number() over (
        partition by signals.session_id
        order by
            signals.said_at is null, signals.said_at, signals.kind, signals.tool_use_id, messages.uuid, signals.question,
            signals.text
    ),
    signals.kind,
    signals.tool_name,
    signals.tool_use_id,
    signals.model,
    signals.agent_type,
    signals.git_branch,
    coalesce(signals.project, ''),
    coalesce(
        session_machines.machine,
        (
            select sources.machine
            from files
            join sources using (source_id)
            where files.file_id = signals.file_id and signals.history_prompt_id is not null
        ),
        ''
    ),
    coalesce(length(signals.text), 0),
    signals.is_trivial,
    signals.said_date,
    replace(rtrim(signals.said_at, 'Z'), 'T', ' '),
    unixepoch(signals.said_at)
from signals
left join messages on messages.message_id = signals.message_id
left join session_machines on session_machines.session_id = signals.session_id;
