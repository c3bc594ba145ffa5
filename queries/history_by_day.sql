-- How complete the history is
-- How to read: prompts of history.jsonl by local day; transcripts that Claude Code deleted before a sync are only_in_history.
-- Group: data
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- Bar: prompt_count
-- Chart: columns prompt_date prompt_count found
select
    prompt_date,
    case when is_only_in_history then 'only in history' else 'in a transcript' end as found,
    sum(prompt_count) as prompt_count,
    count(distinct session_id) as session_count
from history_coverage
where prompt_date >= coalesce(nullif(:since, ''), '0000')
    and prompt_date <= coalesce(nullif(:until, ''), '9999')
group by prompt_date, found
order by prompt_date, found;
