-- Cache: why it was missed
-- How to read: responses that wrote to the cache again what had been there, by cause, and the cost of those tokens. After a compaction that is the price of a shorter context; of an unknown cause the transcript says nothing.
-- Group: cache
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- Bar: rewritten_cost_usd
-- Total: response_count, session_count, rewritten_tokens, rewritten_cost_usd
select
    cause,
    count(*) as response_count,
    count(distinct session_id) as session_count,
    sum(rewritten_tokens) as rewritten_tokens,
    round(sum(rewritten_cost_usd), 4) as rewritten_cost_usd
from cache_rewrites
where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and coalesce(response_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
group by cause
order by rewritten_cost_usd desc, cause;
