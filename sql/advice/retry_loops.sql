-- Calls that failed again because nothing had been changed, by tool.
with retries as (
    select
        repeated_calls.*,
        row_number() over (partition by name order by cost_usd desc, called_at, tool_use_id) as place
    from repeated_calls
    where kind = 'retry'
        and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
        and coalesce(called_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
)

select
    printf('Failed calls of %s made again unchanged', name) as finding,
    printf(
        '%s failed again, in %s: nothing had been changed in between.',
        case count(*) when 1 then '1 call' else printf('%,d calls', count(*)) end,
        case count(distinct session_id) when 1 then '1 session' else printf('%,d sessions', count(distinct session_id)) end
    ) as evidence,
    'Say in CLAUDE.md what to do instead when it fails.' as advice,
    round(sum(cost_usd), 4) as cost_usd,
    count(*) as occurrence_count,
    max(case when place = 1 then message_id end) as message_id,
    max(case when place = 1 then what end) as example,
    'retry_loops' as question
from retries
group by name
