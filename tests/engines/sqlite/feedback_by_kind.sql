select
    kind,
    project,
    tool_name,
    model,
    count(*) as signal_count,
    sum(is_trivial) as trivial_count,
    sum(coalesce(length(text), 0)) as text_length
from feedback
group by 1, 2, 3, 4;
