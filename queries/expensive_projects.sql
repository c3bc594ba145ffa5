-- Most expensive projects
-- How to read: worktrees count for their repository.
-- Group: cost
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- Bar: cost_usd
-- Total: session_count, response_count, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens, cost_usd, unpriced_count
select
    max(bi_session_days.project) as project,
    count(distinct nullif(bi_session_days.session_id, '')) as session_count,
    sum(bi_session_days.response_count) as response_count,
    sum(bi_session_days.input_tokens) as input_tokens,
    sum(bi_session_days.output_tokens) as output_tokens,
    sum(bi_session_days.cache_write_tokens) as cache_write_tokens,
    sum(bi_session_days.cache_read_tokens) as cache_read_tokens,
    round(sum(bi_session_days.cost_usd), 6) as cost_usd,
    sum(bi_session_days.unpriced_count) as unpriced_count,
    max(bi_session_days.activity_date) as last_date,
    coalesce(projects.repository_path, projects.path, projects.directory_name) as project_path
from bi_session_days
left join sessions on sessions.session_id = bi_session_days.session_id
left join projects on projects.project_id = sessions.project_id
where coalesce(bi_session_days.activity_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
    and bi_session_days.project like '%' || coalesce(nullif(:project, ''), '') || '%'
group by project_path
order by cost_usd desc, project, project_path;
