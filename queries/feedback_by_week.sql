-- Feedback by week
-- How to read: how often you correct, deny and interrupt, per hundred prompts; weeks begin on Monday.
-- Group: feedback
-- Bar: objections_per_100_prompts
-- Chart: lines week_start_date interruption_count denial_count correction_count
select
    date(said_date, 'weekday 0', '-6 days') as week_start_date,
    sum(kind in ('prompt', 'queued_prompt', 'correction')) as prompt_count,
    sum(kind = 'correction') as correction_count,
    sum(kind in ('denial', 'plan_rejected')) as denial_count,
    sum(kind = 'interruption') as interruption_count,
    round(
        100.0 * sum(kind in ('correction', 'denial', 'plan_rejected', 'interruption'))
        / nullif(sum(kind in ('prompt', 'queued_prompt', 'correction')), 0), 1
    ) as objections_per_100_prompts
from feedback
where said_date is not null
group by week_start_date
order by week_start_date;
