-- Most expensive branches
-- How to read: what each git branch has cost so far.
-- Group: cost
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: cost_usd
-- Chart: bars git_branch cost_usd
select project, git_branch, session_count, response_count, output_tokens, cost_usd, last_responded_at
from branch_costs
where coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
order by cost_usd desc, project, git_branch
limit coalesce(nullif(:limit, ''), 20);
