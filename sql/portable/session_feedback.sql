-- One row per session with a signal from the person, and one for signals without a session.
-- Reads: owned_feedback
select
    case when owned_feedback.session_id <> '' then owned_feedback.session_id end as session_id,
    max(owned_feedback.project) as project,
    count(*) as signal_count,
    sum(case when owned_feedback.kind = 'prompt' then 1 else 0 end) as prompt_count,
    sum(case when owned_feedback.kind = 'correction' then 1 else 0 end) as correction_count,
    sum(case when owned_feedback.kind = 'queued_prompt' then 1 else 0 end) as queued_prompt_count,
    sum(case when owned_feedback.kind = 'denial' then 1 else 0 end) as denial_count,
    sum(case when owned_feedback.kind = 'plan_rejected' then 1 else 0 end) as plan_rejected_count,
    sum(case when owned_feedback.kind = 'interruption' then 1 else 0 end) as interruption_count,
    sum(case when owned_feedback.kind = 'answer' then 1 else 0 end) as answer_count,
    sum(case when owned_feedback.is_trivial then 1 else 0 end) as trivial_count,
    min(owned_feedback.said_at) as first_said_at,
    max(owned_feedback.said_at) as last_said_at
from owned_feedback
group by owned_feedback.session_id
