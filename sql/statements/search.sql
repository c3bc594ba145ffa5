-- name: enlarge_search_buffer
-- FTS5 sorts 8 MB of words at a time instead of 1 MB, and has less to merge.
insert into search (search, rank) values ('hashsize', 8388608);

-- name: rebuild_search_index
-- Blocks after last_block_id are not indexed yet.
insert into search (search) values ('delete-all');
insert into search (rowid, text)
select block_id, text
from _search_texts
where text is not null
    and block_id <= (select last_block_id from indexed_blocks);

-- name: index_block
-- Indexes the text of a changed block.
insert into search (rowid, text)
select block_id, text
from _search_texts
where block_id = ?1
    and block_id <= (select last_block_id from indexed_blocks)
    and text is not null

-- name: index_tool_output
-- From now on tool results are indexed. Those in the database are indexed by rebuild_search_index.
insert or ignore into settings (setting, value)
values ('index_tool_output', '1')

-- name: list_indexed_words
-- Every word of the full-text index, with the block and the place in it.
select term, doc, "offset"
from temp.indexed_words

-- name: search
-- The best matches, newest first among equals. The marks around matches are private characters that no text has.
select
    messages.sent_at,
    projects.name as project,
    case
        when content_blocks.type = 'thinking' then 'thinking'
        when content_blocks.type = 'tool_use' then coalesce(tool_uses.name, 'tool')
        when content_blocks.type = 'tool_result' then 'result'
        when messages.prompt_kind in (select prompt_kind from prompt_kinds where is_typed) then 'you'
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
    and (
        (:since is null and :until is null)
        or date(messages.sent_at, (
            select utc_offset from time_zone_offsets where begins_at <= messages.sent_at order by begins_at desc limit 1
        )) between coalesce(:since, '0000') and coalesce(:until, '9999')
    )
    and (
        :role is null
        or (:role = 'you' and messages.prompt_kind in (select prompt_kind from prompt_kinds where is_typed))
        or (:role = 'claude' and messages.type = 'assistant' and content_blocks.type = 'text')
        or (:role = 'thinking' and content_blocks.type = 'thinking')
        or (:role = 'command' and content_blocks.type = 'tool_use')
        or (:role = 'result' and content_blocks.type = 'tool_result')
    )
    and (:tool is null or tool_uses.name = :tool)
order by search.rank, messages.sent_at desc, messages.uuid, content_blocks.position
limit :limit

-- name: unindex_block
-- Takes the text of a block out of the index, before it changes.
insert into search (search, rowid, text)
select 'delete', block_id, text
from _search_texts
where block_id = ?1
    and block_id <= (select last_block_id from indexed_blocks)
    and text is not null

-- name: unindex_message
-- Takes the texts of a message out of the index, before its blocks change.
insert into search (search, rowid, text)
select 'delete', block_id, text
from _search_texts
where message_id = ?1
    and block_id <= (select last_block_id from indexed_blocks)
    and text is not null
