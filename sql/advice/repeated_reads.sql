-- Files that were read again although their text was still in the context.
with reads as (
    select repeated_calls.*, row_number() over (order by result_bytes desc, called_at, tool_use_id) as place
    from repeated_calls
    where kind = 'read'
        and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
        and coalesce(called_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
)

select
    'Files read again unchanged' as finding,
    printf(
        '%s brought %,d bytes into a context that had the same text already.',
        case count(*) when 1 then '1 read' else printf('%,d reads', count(*)) end, sum(result_bytes)
    ) as evidence,
    'Say in CLAUDE.md what such a file holds, or that unchanged files need no second look.' as advice,
    round(sum(cost_usd), 4) as cost_usd,
    count(*) as occurrence_count,
    max(case when place = 1 then message_id end) as message_id,
    max(case when place = 1 then what end) as example,
    'repeated_reads' as question
from reads
group by finding -- no row if there is none
