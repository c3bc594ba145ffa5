-- Harmless commands that were never denied, and could be allowed.
with patterns as (
    select
        command_pattern,
        max(rule) as rule,
        sum(call_count) as call_count,
        row_number() over (order by sum(call_count) desc, command_pattern) as place
    from command_permissions
    where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
        and coalesce(last_called_date, '9999') >= coalesce(nullif(:since, ''), '0000')
        and coalesce(first_called_date, '0000') <= coalesce(nullif(:until, ''), '9999')
    group by command_pattern
    having sum(denied_count) = 0 and max(rule) is not null and sum(call_count) >= 5
)

select
    'Harmless commands that were never denied' as finding,
    printf(
        '%,d calls of %s, which a rule would allow without a question.',
        sum(call_count), case count(*) when 1 then '1 command' else printf('%,d commands', count(*)) end
    ) as evidence,
    'Add to permissions.allow in settings.json: '
        || (select group_concat(rule, ', ') from (select rule from patterns where place <= 5 order by place)) as advice,
    null as cost_usd,
    sum(call_count) as occurrence_count,
    null as message_id,
    max(case when place = 1 then command_pattern end) as example,
    'never_denied' as question
from patterns
group by finding -- no row if there is none
