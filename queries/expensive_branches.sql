-- Most expensive branches
-- How to read: what each git branch has cost so far.
-- Group: cost
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: cost_usd
-- Chart: bars git_branch cost_usd
select
    project,
    git_branch,
    sum(session_count) as session_count,
    sum(response_count) as response_count,
    sum(output_tokens) as output_tokens,
    round(sum(cost_usd), 6) as cost_usd,
    max(last_responded_at) as last_responded_at
from branch_costs
where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
group by project, git_branch
order by cost_usd desc, project, git_branch
limit coalesce(nullif(:limit, ''), 20);
