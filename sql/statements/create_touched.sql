-- What changed since the references were last resolved.
create temp table if not exists touched_sessions (session_id text primary key) without rowid;
create temp table if not exists told_sessions ( -- of a new database: what the messages of each session tell
    session_id text primary key,
    has_git_branch integer, has_version integer, has_entrypoint integer, has_slug integer,
    has_guests integer -- its file has messages of others
) without rowid;
create temp table if not exists touched_responses (api_response_id integer primary key);
create temp table if not exists touched_tool_uses (tool_use_id text primary key) without rowid;
create temp table if not exists touched_changes (tool_use_id text primary key) without rowid;
create temp table if not exists indexed_blocks (last_block_id integer);
delete from indexed_blocks;
insert into indexed_blocks (last_block_id)
select coalesce(max(block_id), 0)
from content_blocks;

-- What the tables for BI tools have counted.
create temp table if not exists touched_messages (message_id integer primary key);
create temp table if not exists changed_responses (api_response_id integer primary key);
create temp table if not exists counted_rows (last_message_id integer, last_api_response_id integer);
delete from counted_rows;
insert into counted_rows (last_message_id, last_api_response_id)
select
    (select coalesce(max(message_id), 0) from messages),
    (select coalesce(max(api_response_id), 0) from api_responses);
