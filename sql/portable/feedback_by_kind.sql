-- One row per kind of signal, project, tool and model that it is about.
-- Reads: owned_feedback
select
    owned_feedback.kind,
    owned_feedback.project,
    owned_feedback.tool_name,
    owned_feedback.model,
    count(*) as signal_count,
    sum(case when owned_feedback.is_trivial then 1 else 0 end) as trivial_count,
    sum(owned_feedback.text_length) as text_length
from owned_feedback
group by owned_feedback.kind, owned_feedback.project, owned_feedback.tool_name, owned_feedback.model
