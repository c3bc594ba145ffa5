-- Cache: what misses cost
-- How to read: responses that wrote to the cache again what the response before them had there; rewritten_cost_usd is the cost of those tokens. A pause is longer than the cache lives; of an unknown cause the transcript says nothing.
-- Group: cache
-- :cause - pause, restart, model switch, compaction or unknown; all causes without it
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: rewritten_cost_usd
select responded_at, cause, model, pause_minutes, previous_tokens, cache_read_tokens, rewritten_tokens, rewritten_cost_usd, project, session_id
from cache_rewrites
where cause like coalesce(nullif(:cause, ''), '%')
    and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and coalesce(response_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
order by rewritten_cost_usd desc, responded_at, session_id, model, previous_tokens, cache_read_tokens
limit coalesce(nullif(:limit, ''), 20);
