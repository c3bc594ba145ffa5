-- name: basis
-- What derived tables depend on besides the transcripts: prices and words.
select json_array(
    'price', model, valid_from, origin, input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd,
    long_context_tokens, long_input_usd, long_output_usd, long_cache_write_5m_usd, long_cache_write_1h_usd,
    long_cache_read_usd, fast_multiplier, us_multiplier, batch_multiplier, web_search_usd
) as basis
from model_prices
union all
select json_array('alias', model_name, model)
from model_aliases
where origin = 'user'
union all
select json_array('trivial', trivial_text)
from trivial_texts
where is_used
union all
select json_array('correction', correction_phrase, role)
from correction_phrases
where is_used
order by 1;

-- name: create_touched
-- What changed since the references were last resolved.
create temp table if not exists touched_sessions (
    session_id text primary key,
    has_git_branch integer default 0, has_version integer default 0, has_entrypoint integer default 0,
    has_slug integer default 0, -- whether a message that is new or changed has one
    has_guests integer default 0 -- whether the file of the session has a message of another session
) without rowid;
create temp table if not exists touched_said_sessions (session_id text primary key) without rowid;
create temp table if not exists touched_responses (api_response_id integer primary key);
create temp table if not exists touched_tool_uses (tool_use_id text primary key) without rowid;
create temp table if not exists touched_pastes (cache_name text primary key) without rowid;
create temp table if not exists retired_hints (session_id text primary key) without rowid; -- of session_hints

-- A sync that fills all tables again deletes hints too: those that the archive has of an index that has grown since.
create temp trigger if not exists session_hint_deleted
after delete on session_hints when old.session_id is not null
begin
    insert or ignore into touched_sessions (session_id)
    select session_id from sessions where session_id = old.session_id;
    insert or ignore into retired_hints (session_id) values (old.session_id);
end;

-- What the search index has.
create temp table if not exists indexed_rows (
    last_block_id integer, last_event_id integer, least_text_id integer
);
delete from indexed_rows;
insert into indexed_rows (last_block_id, last_event_id)
select
    (select coalesce(max(block_id), 0) from content_blocks),
    (select coalesce(max(event_id), 0) from events);

-- What the tables for BI tools have counted.
create temp table if not exists touched_messages (message_id integer primary key);
create temp table if not exists changed_responses (api_response_id integer primary key);
create temp table if not exists counted_rows (
    last_message_id integer, last_api_response_id integer,
    touches_all integer -- whether every session is touched: all rows are new, or all are derived again
);
delete from counted_rows;
insert into counted_rows (last_message_id, last_api_response_id, touches_all)
select
    (select coalesce(max(message_id), 0) from messages),
    (select coalesce(max(api_response_id), 0) from api_responses),
    not exists (select 1 from sessions)
        and not exists (select 1 from messages)
        and not exists (select 1 from events)
        and not exists (select 1 from history_prompts);

-- name: touches_all
select touches_all
from counted_rows

-- name: forget_touched
delete from retired_hints;
delete from touched_sessions;
delete from touched_said_sessions;
delete from touched_responses;
delete from touched_tool_uses;
delete from touched_pastes;
delete from touched_messages;
delete from changed_responses;

-- name: note_changes
-- Notes whatever changes in rows that are counted, whoever changes it. New messages and responses are known by their keys.
create temp trigger if not exists message_updated
after update of file_id, session_id, agent_run_id, prompt_kind, cwd, git_branch, version, entrypoint, slug, sent_at on messages
begin
    insert or ignore into touched_messages (message_id) values (new.message_id);
end;

create temp trigger if not exists tool_use_inserted
after insert on tool_uses
begin
    insert or ignore into touched_messages (message_id) values (new.message_id);
end;

create temp trigger if not exists tool_use_updated
after update on tool_uses
begin
    insert or ignore into touched_messages (message_id) values (old.message_id), (new.message_id);
end;

create temp trigger if not exists tool_use_deleted
after delete on tool_uses
begin
    insert or ignore into touched_messages (message_id) values (old.message_id);
end;

create temp trigger if not exists tool_result_updated
after update on tool_results
begin
    insert or ignore into touched_messages (message_id)
    select message_id from tool_uses where tool_use_id = new.tool_use_id;
end;

create temp trigger if not exists file_change_inserted
after insert on file_changes
begin
    insert or ignore into touched_messages (message_id)
    select message_id from tool_uses where tool_use_id = new.tool_use_id;
end;

create temp trigger if not exists file_change_deleted
after delete on file_changes
begin
    insert or ignore into touched_messages (message_id)
    select message_id from tool_uses where tool_use_id = old.tool_use_id;
end;

create temp trigger if not exists response_updated
after update on api_responses
begin
    insert or ignore into changed_responses (api_response_id) values (new.api_response_id);
end;

create temp trigger if not exists response_deleted
after delete on api_responses
begin
    insert or ignore into changed_responses (api_response_id) values (old.api_response_id);
end;

create temp trigger if not exists paste_inserted
after insert on pastes
begin
    insert or ignore into touched_pastes (cache_name) values (new.cache_name);
end;

create temp trigger if not exists paste_deleted
after delete on pastes
begin
    insert or ignore into touched_pastes (cache_name) values (old.cache_name);
end;

create temp trigger if not exists pasted_content_inserted
after insert on pasted_contents when new.cache_name is not null
begin
    insert or ignore into touched_pastes (cache_name) values (new.cache_name);
end;

-- A newer version of the copy is looked up again: its session is touched.
create temp trigger if not exists file_backup_retired
after update of is_current on files when new.kind = 'file_backup' and not new.is_current
begin
    update file_backups set file_id = null where file_id = new.file_id;
end;

-- What a file said of sessions and agents before it grew or was rewritten counts no more.
create temp trigger if not exists hint_retired
after update of is_current on files when new.kind in ('session_index', 'agent_meta') and not new.is_current
begin
    insert or ignore into touched_sessions (session_id)
    select sessions.session_id
    from session_hints
    join sessions using (session_id)
    where session_hints.file_id = new.file_id
    union
    select sessions.session_id
    from agent_metas
    join sessions using (session_id)
    where agent_metas.file_id = new.file_id;
end;

create temp trigger if not exists agent_meta_deleted
after delete on agent_metas
begin
    insert or ignore into touched_sessions (session_id)
    select session_id from sessions where session_id = old.session_id;
end;

-- name: reset_watermarks
-- Nothing is in the search index yet, and nothing is counted.
update indexed_rows
set last_block_id = 0, last_event_id = 0;

update counted_rows
set last_message_id = 0, last_api_response_id = 0, touches_all = 1;

-- name: reset_kept_tables
-- What is derived in tables that an upgrade and a rebuild keep.
delete from model_aliases
where origin = 'builtin';

update projects
set path = null, repository_path = null, name = directory_name;

-- name: touch_all
insert or ignore into touched_said_sessions (session_id)
select session_id
from history_prompts
where session_id is not null;

insert or replace into touched_sessions (session_id, has_git_branch, has_version, has_entrypoint, has_slug, has_guests)
select session_id, 1, 1, 1, 1, 1
from sessions;

insert or ignore into touched_responses (api_response_id)
select api_response_id
from api_responses
where kind = 'message';

update counted_rows
set last_message_id = 0, last_api_response_id = 0, touches_all = 1;

-- name: touch_new_sessions
-- Of a new database.
insert into touched_sessions (session_id)
select session_id
from sessions;

-- name: touch_known_session
insert or ignore into touched_sessions (session_id)
select session_id
from sessions
where session_id = ?1

-- name: touch_response
insert or ignore into touched_responses (api_response_id)
values (?1)

-- name: touch_session
insert into touched_sessions (session_id, has_git_branch, has_version, has_entrypoint, has_slug, has_guests)
values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict (session_id) do update
set
    has_git_branch = max(has_git_branch, excluded.has_git_branch),
    has_version = max(has_version, excluded.has_version),
    has_entrypoint = max(has_entrypoint, excluded.has_entrypoint),
    has_slug = max(has_slug, excluded.has_slug),
    has_guests = max(has_guests, excluded.has_guests)

-- name: touch_tool_use
insert or ignore into touched_tool_uses (tool_use_id)
values (?1)
