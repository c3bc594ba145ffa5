-- One row per local day, machine, project, kind of signal from the person, and tool that it is about.
select
    owned_feedback.local_day,
    owned_feedback.machine,
    owned_feedback.project,
    owned_feedback.kind,
    owned_feedback.tool_name,
    count(*) as signal_count,
    cast(sum(case when owned_feedback.is_trivial then 1 else 0 end) as bigint) as trivial_count
from {{ ref('owned_feedback') }} as owned_feedback
group by
    owned_feedback.local_day, owned_feedback.machine, owned_feedback.project, owned_feedback.kind,
    owned_feedback.tool_name
