-- Budgets
-- How to read: what the current day, week or month has cost, of the limit that `cc-etl budget set` stored, and what it will cost at its rate so far. A period that is ahead exceeds its limit if it goes on like this.
-- Group: cost
-- Bar: spent_share
select
    period, case project when '' then 'all projects' else project end as project, limit_usd, round(spent_usd, 4) as spent_usd,
    spent_share, round(projected_usd, 4) as projected_usd, state, elapsed_share, period_start_date, period_end_date, unpriced_count
from budget_status
order by
    case state when 'over' then 0 when 'ahead' then 1 else 2 end,
    case period when 'day' then 0 when 'week' then 1 else 2 end,
    budget_status.project;
