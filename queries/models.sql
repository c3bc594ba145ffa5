-- Cost per model
-- How to read: most tokens are cache reads, which are the cheapest; cost_share is the share of the total cost.
-- Group: cost
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- Bar: cost_usd
-- Total: response_count, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd, unpriced_count
select
    model,
    count(distinct nullif(session_id, '')) as session_count,
    sum(response_count) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    round(sum(cost_usd), 6) as cost_usd,
    round(sum(cost_usd) / nullif(sum(sum(cost_usd)) over (), 0), 4) as cost_share,
    sum(unpriced_count) as unpriced_count
from bi_session_days
where coalesce(activity_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
    and project like '%' || coalesce(nullif(:project, ''), '') || '%'
group by model
order by cost_usd desc, model;
