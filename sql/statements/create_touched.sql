-- What changed since the references were last resolved.
create temp table if not exists touched_sessions (session_id text primary key) without rowid;
create temp table if not exists touched_responses (api_response_id integer primary key);
create temp table if not exists touched_tool_uses (tool_use_id text primary key) without rowid;
create temp table if not exists touched_changes (tool_use_id text primary key) without rowid;
create temp table if not exists indexed_blocks (last_block_id integer);
delete from indexed_blocks;
insert into indexed_blocks (last_block_id)
select coalesce(max(block_id), 0)
from content_blocks;
