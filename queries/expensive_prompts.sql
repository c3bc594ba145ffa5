-- Most expensive prompts
-- How to read: the cost of the turn that each prompt started, sub-agents included; with words, only prompts that contain them.
-- Group: cost
-- :words - words in the prompt, in this order; all prompts without it
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: cost_usd
select started_at, project, prompt, model, response_count, tool_call_count, coalesce(recorded_duration_ms, duration_ms) as duration_ms,
    cost_usd, session_id
from turns
where coalesce(prompt, '') like '%' || coalesce(nullif(:words, ''), '') || '%'
    and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and date(started_at, (
        select utc_offset from time_zone_offsets where begins_at <= started_at order by begins_at desc limit 1
    )) between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
order by cost_usd desc, session_id, turn_number
limit coalesce(nullif(:limit, ''), 20);
