-- Index new texts. Changed and deleted blocks are removed from the index before (sql/statements/search.sql).

-- Remove titles that changed, and those of sessions that are gone.
create temp table session_titles as
select
    session_id,
    substr(nullif(concat_ws(char(10), custom_title, ai_title, summary, agent_name), ''), 1, (select text_characters from _limits)) as text
from touched_sessions
left join sessions using (session_id);

create temp table old_titles as
select _other_texts.text_id, _other_texts.text
from session_titles
cross join _other_texts using (session_id)
where _other_texts.kind = 'title' and _other_texts.text is not session_titles.text;

insert into search (search, rowid, text)
select 'delete', text_id, text
from old_titles;

delete from _other_texts
where text_id in (select text_id from old_titles);

-- New texts have keys below those of all others.
update indexed_rows
set least_text_id = (select coalesce(min(text_id), 0) from _other_texts);

insert or ignore into _other_texts (text_id, kind, session_id, event_id, history_prompt_id, text)
select
    (select least_text_id from indexed_rows) - row_number() over (), kind, session_id, event_id, history_prompt_id, text
from (
    select 'title' as kind, session_id, null as event_id, null as history_prompt_id, text
    from session_titles
    where not exists (
        select 1
        from _other_texts
        where _other_texts.kind = 'title' and _other_texts.session_id = session_titles.session_id
    )

    union all

    -- What was typed while Claude worked, but not the notifications that are queued with it.
    select
        'queued_prompt', events.session_id, events.event_id, null,
        substr((
            select group_concat(leaf.atom, char(10))
            from json_tree(events.payload_json, '$.content') as leaf
            where leaf.type = 'text' and (leaf.fullkey = '$.content' or leaf.key = 'text')
        ), 1, (select text_characters from _limits))
    from events
    where events.event_id > (select last_event_id from indexed_rows)
        and events.type = 'queue-operation'
        and not exists (select 1 from task_notifications where task_notifications.event_id = events.event_id)

    union all

    -- With what was pasted, as far as the line has it.
    select
        'history', history_prompts.session_id, null, history_prompts.history_prompt_id,
        substr(concat_ws(char(10), history_prompts.display, (
            select group_concat(content, char(10))
            from (
                select pasted_contents.content
                from pasted_contents
                where pasted_contents.history_prompt_id = history_prompts.history_prompt_id
                order by pasted_contents.paste_number
            )
        )), 1, (select text_characters from _limits))
    from history_prompts
    where history_prompts.history_prompt_id > (select coalesce(max(history_prompt_id), 0) from _other_texts)
)
where text <> '';

-- In the order of their keys: FTS5 begins a new segment whenever a key is smaller than the one before.
insert into search (rowid, text)
select text_id, text
from _search_texts
where text_id < (select least_text_id from indexed_rows)
order by text_id;

insert into search (rowid, text)
select text_id, text
from _search_texts
where text_id > (select last_block_id from indexed_rows)
order by text_id;

update indexed_rows
set
    last_block_id = (select coalesce(max(block_id), 0) from content_blocks),
    last_event_id = (select coalesce(max(event_id), 0) from events);

drop table old_titles;
drop table session_titles;
