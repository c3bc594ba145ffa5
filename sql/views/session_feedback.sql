create view session_feedback as
-- One row per session with a signal from the person.
select
    feedback.session_id,
    max(feedback.project) as project,
    max(sessions.title) as title,
    count(*) as signal_count,
    sum(feedback.kind = 'prompt') as prompt_count,
    sum(feedback.kind = 'correction') as correction_count,
    sum(feedback.kind = 'queued_prompt') as queued_prompt_count,
    sum(feedback.kind = 'denial') as denial_count,
    sum(feedback.kind = 'plan_rejected') as plan_rejected_count,
    sum(feedback.kind = 'interruption') as interruption_count,
    sum(feedback.kind = 'answer') as answer_count,
    sum(feedback.is_trivial) as trivial_count,
    min(feedback.said_at) as first_said_at,
    max(feedback.said_at) as last_said_at
from feedback
left join sessions on sessions.session_id = feedback.session_id
group by feedback.session_id;
