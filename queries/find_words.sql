-- Where words were said
-- How to read: best matches first; words as FTS5 understands them: tea AND price, "tea shop", pri*.
-- :words - what to look for; tea without it
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :limit number - rows to show; 20 without it
select messages.sent_at, messages.type, snippet(search, 0, '[', ']', ' … ', 12) as excerpt, messages.session_id, messages.uuid
from search
join content_blocks on content_blocks.block_id = search.rowid
join messages on messages.message_id = content_blocks.message_id
where search match coalesce(nullif(:words, ''), 'tea')
    and date(messages.sent_at, (
        select utc_offset from time_zone_offsets where begins_at <= messages.sent_at order by begins_at desc limit 1
    )) between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
order by search.rank, messages.sent_at desc, messages.uuid, content_blocks.position, content_blocks.part_number
limit coalesce(nullif(:limit, ''), 20);
