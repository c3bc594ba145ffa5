-- name: all_blocks_are_indexed
update indexed_blocks
set last_block_id = (select coalesce(max(block_id), 0) from content_blocks);

-- name: enlarge_search_buffer
-- The words of 8 MB are sorted at once, not of 1 MB: there is less to merge.
insert into search (search, rank) values ('hashsize', 8388608);

-- name: index_anew
-- Fills the full-text index from the texts alone.
insert into search (search) values ('delete-all');
insert into search (rowid, text)
select block_id, text
from search_texts
where text is not null;

-- name: index_block
-- Puts the words of a block into the index, after it has changed.
insert into search (rowid, text)
select content_blocks.block_id, substr(coalesce(
    content_blocks.text,
    tool_uses.command,
    case when exists (select 1 from settings where setting = 'index_tool_output') then tool_results.content end
), 1, 1000000) as words
from content_blocks
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join tool_results on tool_results.block_id = content_blocks.block_id
where content_blocks.block_id = ?1
    and content_blocks.block_id <= (select last_block_id from indexed_blocks)
    and words is not null

-- name: index_tool_output
-- Puts the outputs of tools into the index, from now on and of what is there.
insert into search (rowid, text)
select tool_results.block_id, substr(tool_results.content, 1, 1000000)
from tool_results
where tool_results.content is not null
    and not exists (select 1 from settings where setting = 'index_tool_output');

insert or ignore into settings (setting, value)
values ('index_tool_output', '1');

-- name: list_indexed_words
-- Every word of the full-text index, with the block and the place in it.
select term, doc, "offset"
from temp.indexed_words

-- name: put_search_head
-- What the index that was written without SQLite holds. Its tables are those of FTS5.
insert or replace into search_data (id, block)
values (?1, ?2)

-- name: search
-- The best matches, newest first among equals. The marks around matches are private characters that no text has.
select
    messages.sent_at,
    projects.name as project,
    case
        when content_blocks.type = 'thinking' then 'thinking'
        when content_blocks.type = 'tool_use' then coalesce(tool_uses.name, 'tool')
        when content_blocks.type = 'tool_result' then 'result'
        when messages.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note') then 'you'
        when messages.type = 'assistant' then 'claude'
        else coalesce(messages.prompt_kind, messages.type)
    end as role,
    messages.session_id,
    snippet(search, 0, char(57344), char(57345), ' … ', 24) as excerpt,
    messages.uuid
from search
join content_blocks on content_blocks.block_id = search.rowid
join messages on messages.message_id = content_blocks.message_id
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join sessions on sessions.session_id = messages.session_id
left join projects on projects.project_id = sessions.project_id
where search match :words
    and (:project is null or projects.name like '%' || :project || '%' or projects.path like '%' || :project || '%')
    and (:since is null or messages.sent_at >= :since)
    and (:until is null or messages.sent_at <= :until || 'T99')
    and (
        :role is null
        or (:role = 'you' and messages.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note'))
        or (:role = 'claude' and messages.type = 'assistant' and content_blocks.type = 'text')
        or (:role = 'thinking' and content_blocks.type = 'thinking')
        or (:role = 'command' and content_blocks.type = 'tool_use')
        or (:role = 'result' and content_blocks.type = 'tool_result')
    )
    and (:tool is null or tool_uses.name = :tool)
order by search.rank, messages.sent_at desc
limit :limit

-- name: unindex_block
-- Takes the words of a block out of the index, before it changes.
insert into search (search, rowid, text)
select 'delete', content_blocks.block_id, substr(coalesce(
    content_blocks.text,
    tool_uses.command,
    case when exists (select 1 from settings where setting = 'index_tool_output') then tool_results.content end
), 1, 1000000) as words
from content_blocks
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join tool_results on tool_results.block_id = content_blocks.block_id
where content_blocks.block_id = ?1
    and content_blocks.block_id <= (select last_block_id from indexed_blocks)
    and words is not null

-- name: unindex_message
-- Takes the words of a message out of the index, before its blocks change.
insert into search (search, rowid, text)
select 'delete', content_blocks.block_id, substr(coalesce(
    content_blocks.text,
    tool_uses.command,
    case when exists (select 1 from settings where setting = 'index_tool_output') then tool_results.content end
), 1, 1000000) as words
from content_blocks
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join tool_results on tool_results.block_id = content_blocks.block_id
where content_blocks.message_id = ?1
    and content_blocks.block_id <= (select last_block_id from indexed_blocks)
    and words is not null
