-- name: enlarge_search_buffer
-- FTS5 sorts 4 MB of words at a time instead of 1 MB, and has less to merge.
insert into search (search, rank) values ('hashsize', 4194304);

-- name: rebuild_search_index
-- Blocks after last_block_id are not indexed yet.
insert into search (search) values ('delete-all');
insert into search (rowid, text)
select text_id, text
from _search_texts
where text_id <= (select last_block_id from indexed_rows)
order by text_id;

-- name: index_block
-- Indexes the text of a changed block.
insert into search (rowid, text)
select text_id, text
from _search_texts
where text_id = ?1
    and text_id <= (select last_block_id from indexed_rows)

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
-- What a message says as well is left out: a line of history.jsonl that became one, a queued prompt that was delivered.
with hits as (
    select
        search.rowid as text_id,
        -- A tool input counts half: paths are short, and would come first.
        search.rank * iif(tool_uses.block_id is null, 1, 0.5) as place,
        (select _search_texts.kind from _search_texts where _search_texts.text_id = search.rowid) as kind,
        coalesce(messages.session_id, _other_texts.session_id) as session_id,
        coalesce(messages.sent_at, events.occurred_at, history_prompts.prompted_at, sessions.started_at) as said_at,
        coalesce(projects.name, history_prompts.project_path) as project,
        coalesce(projects.path, history_prompts.project_path) as project_path,
        coalesce(tool_uses.name, answered.name) as tool,
        sessions.start_cwd,
        coalesce(messages.is_sidechain = 1 or messages.agent_id is not null, 0) as is_sidechain,
        exists (
            select 1
            from outcomes
            where outcomes.outcome = coalesce(tool_results.outcome, settled.outcome) and outcomes.outcome_group = 'error'
        ) or coalesce(messages.is_api_error, 0) as is_error,
        messages.uuid,
        content_blocks.position,
        content_blocks.part_number,
        _other_texts.text,
        _other_texts.event_id,
        _other_texts.history_prompt_id
    from search
    left join content_blocks on content_blocks.block_id = search.rowid
    left join messages on messages.message_id = content_blocks.message_id
    left join tool_uses on tool_uses.block_id = content_blocks.block_id
    left join tool_results as settled on settled.tool_result_id = tool_uses.tool_result_id
    left join tool_results on tool_results.block_id = content_blocks.block_id
    left join tool_uses as answered on answered.tool_use_id = tool_results.tool_use_id
    left join _other_texts on _other_texts.text_id = search.rowid
    left join events on events.event_id = _other_texts.event_id
    left join history_prompts on history_prompts.history_prompt_id = _other_texts.history_prompt_id
    left join sessions on sessions.session_id = coalesce(messages.session_id, _other_texts.session_id)
    left join projects on projects.project_id = sessions.project_id
    where search match :words
        and history_prompts.message_id is null
        and (_other_texts.event_id is null or not exists (
            select 1
            from messages as delivered indexed by messages_by_prompt
            cross join content_blocks as said using (message_id)
            where delivered.session_id = _other_texts.session_id
                and delivered.prompt_kind in (select prompt_kind from prompt_kinds where is_prompt)
                and trim(said.text) = trim(_other_texts.text)
        ))
)

select
    hits.said_at,
    hits.project,
    hits.kind,
    hits.tool,
    hits.session_id,
    snippet(search, 0, char(57344), char(57345), ' … ', 24) as excerpt,
    hits.is_sidechain,
    hits.is_error,
    hits.uuid,
    hits.event_id,
    hits.history_prompt_id,
    hits.start_cwd,
    -- Whether Claude Code still has the transcript.
    exists (
        select 1
        from files
        where files.session_id = hits.session_id and files.kind = 'session' and files.missing_since is null
    ) as is_resumable
from (
    select *
    from hits
    where (
            :project is null
            or instr(lower(project), lower(:project)) > 0
            or instr(lower(project_path), lower(:project)) > 0
        )
        and (
            (:since is null and :until is null)
            or date(said_at, (
                select utc_offset from time_zone_offsets where begins_at <= said_at order by begins_at desc limit 1
            )) between coalesce(:since, '0000') and coalesce(:until, '9999')
        )
        and (:kinds is null or kind in (select value from json_each(:kinds)))
        and (:tool is null or tool = :tool)
        and (:is_error is null or is_error)
        and (:is_sidechain is null or is_sidechain = :is_sidechain + 0)
    order by place, said_at desc, uuid, position, part_number, kind, session_id, project_path, text
    limit :limit
) as hits
cross join search on search.rowid = hits.text_id
where search match :words
order by
    hits.place, hits.said_at desc, hits.uuid, hits.position, hits.part_number, hits.kind, hits.session_id, hits.project_path,
    hits.text

-- name: unindex_block
-- Takes the text of a block out of the index, before it changes.
insert into search (search, rowid, text)
select 'delete', text_id, text
from _search_texts
where text_id = ?1
    and text_id <= (select last_block_id from indexed_rows)

-- name: unindex_message
-- Takes the texts of a message out of the index, before its blocks change.
insert into search (search, rowid, text)
select 'delete', text_id, text
from _search_texts
where text_id in (select block_id from content_blocks where message_id = ?1)
    and text_id <= (select last_block_id from indexed_rows)
