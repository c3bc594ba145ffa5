-- Commands that were never denied
-- How to read: rule is what would allow a command that only tests, builds, formats or shows; others are for you to judge. What runs other code, such as a shell or python3 -c, is left out, and so are calls in modes that ask nobody.
-- Group: feedback
-- :since first_day - first local day of the last call, like 2026-09-01; all days without it
-- :until last_day - last local day of the first call; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: call_count
select tool_name, command_pattern, max(rule) as rule, sum(call_count) as call_count
from command_permissions
where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    and coalesce(last_called_date, '9999') >= coalesce(nullif(:since, ''), '0000')
    and coalesce(first_called_date, '0000') <= coalesce(nullif(:until, ''), '9999')
group by tool_name, command_pattern
having sum(denied_count) = 0 and max(verdict) is not 'never'
order by max(rule) is null, sum(call_count) desc, tool_name, command_pattern
limit coalesce(nullif(:limit, ''), 20);
