-- name: set_budget
insert into budgets (project, period, limit_usd)
values (?1, ?2, ?3)
on conflict (project, period) do update set limit_usd = excluded.limit_usd

-- name: remove_budget
delete from budgets
where project = ?1 and period = ?2

-- name: find_project_names
-- The projects that a text means: the one of this name, else those whose names contain it.
with found as (
    select distinct name, name = ?1 as is_whole
    from projects
    where instr(lower(name), lower(?1)) > 0
)

select name
from found
where is_whole = (select max(is_whole) from found)
order by name

-- name: budgets
-- Those in a state, or all.
select project, period, limit_usd, spent_usd, projected_usd, state
from budget_status
where ?1 is null or state = ?1
order by period, project
