-- Commands that fail in every session of a project.
select
    printf('A command that always fails in %s', coalesce(project, 'an unknown project')) as finding,
    printf('It failed %,d times in %,d sessions with the same error, and never worked.', failed_count, session_count) as evidence,
    'Say in CLAUDE.md that it does not work here, and what to run instead.' as advice,
    round(cost_usd, 4) as cost_usd,
    failed_count as occurrence_count,
    message_id,
    command as example,
    'failing_commands' as question
from command_failures
where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and coalesce(last_failed_date, '9999') >= coalesce(nullif(:since, ''), '0000')
    and coalesce(first_failed_date, '0000') <= coalesce(nullif(:until, ''), '9999')
