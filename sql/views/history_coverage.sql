create view history_coverage as
-- One row per local day, session and machine of history.jsonl: how many of its prompts are in a transcript.
select
    date(history_prompts.prompted_at, (
        select utc_offset from time_zone_offsets where begins_at <= history_prompts.prompted_at order by begins_at desc limit 1
    )) as prompt_date, -- local
    history_prompts.session_id,
    history_prompts.project_path,
    sources.machine,
    count(*) as prompt_count,
    sum(history_prompts.match_kind = 'matched') as matched_count, -- with a message in the database
    sum(history_prompts.match_kind = 'draft') as draft_count, -- cleared, or commands that leave no record
    sum(history_prompts.match_kind = 'swept_or_draft') as unknown_count,
    max(sessions.session_id is null) as is_only_in_history, -- 1 if the session has no transcript
    min(history_prompts.prompted_at) as first_prompted_at,
    max(history_prompts.prompted_at) as last_prompted_at
from history_prompts
join files using (file_id)
join sources using (source_id)
left join sessions on sessions.session_id = history_prompts.session_id and sessions.started_at is not null
group by 1, 2, 3, 4;
