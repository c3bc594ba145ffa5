-- Large files and pages that were read and not used, by tool.
with results as (
    select
        unused_tool_results.*,
        row_number() over (
            partition by name order by result_bytes * later_response_count desc, called_at, tool_use_id
        ) as place
    from unused_tool_results
    where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
        and coalesce(called_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
)

select
    printf('Large results of %s that nothing used', name) as finding,
    printf(
        '%s of %,d bytes stayed in the context; no name in them came up again.',
        case count(*) when 1 then '1 result' else printf('%,d results', count(*)) end, sum(result_bytes)
    ) as evidence,
    'Ask for a part of a large file, or for a search in it.' as advice,
    null as cost_usd,
    count(*) as occurrence_count,
    max(case when place = 1 then message_id end) as message_id,
    max(case when place = 1 then what end) as example,
    'unused_results' as question
from results
group by name
