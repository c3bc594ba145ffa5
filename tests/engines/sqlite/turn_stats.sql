with placed as (
    select
        *,
        row_number() over (partition by project, model order by duration_ms nulls last) as place,
        count(duration_ms) over (partition by project, model) as timed_count
    from turns
)

select
    project,
    model,
    count(*) as turn_count,
    sum(tool_call_count) as tool_call_count,
    sum(cost_usd) as cost_usd,
    max(cost_usd) as max_cost_usd,
    max(case when place = (timed_count + 1) / 2 then duration_ms end) as p50_duration_ms,
    max(case when place = (timed_count * 95 + 99) / 100 then duration_ms end) as p95_duration_ms,
    sum(is_interrupted) as interrupted_count
from placed
group by project, model;
