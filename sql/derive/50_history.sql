-- Match lines of history.jsonl to what was said: same session and same text (up to 1,000,000 characters), else same time.
create temp table open_prompts as
select history_prompt_id, session_id, collapsed(substr(display, 1, (select text_characters from _limits))) as display, prompted_at
from history_prompts
where match_kind is null
    or session_id in (select session_id from touched_sessions);

-- The session of a line may have no row in sessions.
insert or ignore into touched_said_sessions (session_id)
select session_id
from open_prompts
where session_id is not null;

create temp table said_prompts as
select
    messages.message_id, null as event_id, messages.session_id, messages.uuid, messages.sent_at as said_at,
    collapsed(substr(
        iif(messages.prompt_kind = 'bash_command', '!', '') || _message_texts.text,
        1, (select text_characters from _limits)
    )) as said
from (select distinct session_id from open_prompts) as asked
cross join messages indexed by messages_by_prompt using (session_id)
cross join _message_texts using (message_id)
where messages.prompt_kind in (select prompt_kind from prompt_kinds where is_prompt)
union all
select
    messages.message_id, null, messages.session_id, messages.uuid, messages.sent_at,
    collapsed(substr(content_blocks.text, 1, (select text_characters from _limits)))
from (select distinct session_id from open_prompts) as asked
cross join messages indexed by messages_by_prompt using (session_id)
cross join content_blocks indexed by content_blocks_beside_results using (message_id)
where messages.prompt_kind = 'tool_result'
    and content_blocks.prompt_kind in (select prompt_kind from prompt_kinds where is_typed)
union all
select null, queue_entries.event_id, queue_entries.session_id, null, queue_entries.queued_at, collapsed(queue_entries.text)
from (select distinct session_id from open_prompts) as asked
cross join queue_entries using (session_id)
where queue_entries.fate = 'queue_only';

create index temp.said_prompts_by_text on said_prompts (session_id, said);

update history_prompts
set
    message_id = said_prompts.message_id,
    event_id = said_prompts.event_id,
    match_kind = case
        when said_prompts.rowid is not null then 'matched'
        when exists (
            select 1
            from messages
            where messages.session_id = matches.session_id and messages.agent_run_id is null
        ) then 'draft'
        else 'swept_or_draft'
    end
from (
    select
        open_prompts.history_prompt_id, open_prompts.session_id,
        coalesce(
            (
                select said_prompts.rowid
                from said_prompts
                where said_prompts.session_id = open_prompts.session_id
                    and said_prompts.said = open_prompts.display
                    and julianday(said_prompts.said_at) - julianday(open_prompts.prompted_at) > -5.0 / 86400
                order by
                    abs(julianday(said_prompts.said_at) - julianday(open_prompts.prompted_at)), said_prompts.uuid
                limit 1
            ),
            -- A prompt with pastes has another text there, so match by time.
            (
                select said_prompts.rowid
                from said_prompts
                where open_prompts.display like '%[%#%]%'
                    and said_prompts.session_id = open_prompts.session_id
                    and abs(julianday(said_prompts.said_at) - julianday(open_prompts.prompted_at)) * 86400 < 5
                order by
                    abs(julianday(said_prompts.said_at) - julianday(open_prompts.prompted_at)), said_prompts.uuid
                limit 1
            )
        ) as said_prompt_rowid
    from open_prompts
) as matches
left join said_prompts on said_prompts.rowid = matches.said_prompt_rowid
where matches.history_prompt_id = history_prompts.history_prompt_id;

drop table said_prompts;
drop table open_prompts;

-- Find the files of long pasted texts. A new database records no changed names: all are looked up.
update pasted_contents
set paste_id = (
    select pastes.paste_id
    from pastes
    join files using (file_id)
    join sources using (source_id)
    where pastes.cache_name = pasted_contents.cache_name
    order by files.path, sources.machine_id, sources.root_path, files.generation desc
    limit 1
)
where cache_name in (
    select cache_name
    from touched_pastes
    union all
    select pastes.cache_name
    from counted_rows
    cross join pastes
    where counted_rows.touches_all
);

-- Find the copies that Claude Code made of files before it changed them. The key is NULL if the copy has a newer version.
update file_backups
set file_id = (
    select backup.file_id
    from events
    join files as transcript on transcript.file_id = events.file_id
    join files as backup
        on backup.source_id = transcript.source_id
        and backup.path = 'file-history/' || file_backups.session_id || '/' || file_backups.backup_name
    where events.event_id = file_backups.event_id
    order by backup.generation desc
    limit 1
)
where (file_id is null or exists (select 1 from counted_rows where touches_all))
    and backup_name is not null
    and session_id in (select session_id from touched_sessions);
