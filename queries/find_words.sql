-- Where words were said
-- How to read: best matches first; words as FTS5 understands them: tea AND price, "tea shop", pri*.
-- Group: conversation
-- :words - what to look for; no rows without it
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :limit number - rows to show; 20 without it
with matches as (
    select
        search.rank as place,
        search.rowid as text_id,
        coalesce(messages.sent_at, events.occurred_at, history_prompts.prompted_at, sessions.started_at) as said_at,
        snippet(search, 0, '[', ']', ' … ', 12) as excerpt,
        coalesce(messages.session_id, _other_texts.session_id) as session_id,
        messages.uuid
    from search
    left join content_blocks on content_blocks.block_id = search.rowid
    left join messages on messages.message_id = content_blocks.message_id
    left join _other_texts on _other_texts.text_id = search.rowid
    left join events on events.event_id = _other_texts.event_id
    left join history_prompts on history_prompts.history_prompt_id = _other_texts.history_prompt_id
    left join sessions on sessions.session_id = _other_texts.session_id
    where search match coalesce(nullif(:words, ''), '""')
        and history_prompts.message_id is null -- else the message is found
)

select
    matches.said_at,
    (select _search_texts.kind from _search_texts where _search_texts.text_id = matches.text_id) as kind,
    matches.excerpt,
    matches.session_id,
    matches.uuid
from matches
where coalesce(date(matches.said_at, (
    select utc_offset from time_zone_offsets where begins_at <= matches.said_at order by begins_at desc limit 1
)), '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
order by matches.place, matches.said_at desc, matches.uuid, matches.excerpt
limit coalesce(nullif(:limit, ''), 20);
