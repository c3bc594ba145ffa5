-- One row per local week, which begins on Monday: how often the person spoke, corrected, denied and interrupted.
-- Reads: owned_feedback
select
    owned_feedback.local_week as week_start_date,
    sum(case when owned_feedback.kind in ('prompt', 'queued_prompt', 'correction') then 1 else 0 end) as prompt_count,
    sum(case when owned_feedback.kind = 'correction' then 1 else 0 end) as correction_count,
    sum(case when owned_feedback.kind in ('denial', 'plan_rejected') then 1 else 0 end) as denial_count,
    sum(case when owned_feedback.kind = 'interruption' then 1 else 0 end) as interruption_count
from owned_feedback
where owned_feedback.local_week is not null
group by owned_feedback.local_week
