-- Cost per model
-- How to read: most tokens are cache reads, the cheapest; cost_share is of the total cost; the trend is of the last twelve weeks.
-- Group: cost
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- Bar: cost_usd
-- Total: response_count, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd, unpriced_count
with days as (
    select *
    from bi_session_days
    where coalesce(activity_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
        and project like '%' || coalesce(nullif(:project, ''), '') || '%'
),

-- Of the last twelve weeks; 0 is the latest.
weeks as (
    select
        model,
        cast((julianday((select max(activity_date) from days)) - julianday(activity_date)) / 7 as integer) as week,
        total(cost_usd) as cost_usd
    from days
    group by model, week
    having week < 12
),

shares as (
    select model, week, coalesce(cost_usd / nullif(max(cost_usd) over (partition by model), 0), 0) as share
    from weeks
)

select
    model,
    count(distinct nullif(session_id, '')) as session_count,
    sum(response_count) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    round(sum(cost_usd), 6) as cost_usd,
    (
        select group_concat(substr('▁▂▃▄▅▆▇█', 1 + cast(round(7 * coalesce(share, 0)) as integer), 1), '')
        from (
            select shares.share
            from json_each('[11,10,9,8,7,6,5,4,3,2,1,0]') as past
            left join shares on shares.week = past.value and shares.model is days.model
            order by past.value desc
        )
    ) as cost_trend,
    round(sum(cost_usd) / nullif(sum(sum(cost_usd)) over (), 0), 4) as cost_share,
    sum(unpriced_count) as unpriced_count
from days
group by model
order by cost_usd desc, model;
