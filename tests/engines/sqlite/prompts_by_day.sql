select
    said_date,
    project,
    kind,
    count(*) as prompt_count,
    sum(coalesce(length(text), 0)) as text_length
from prompts
group by 1, 2, 3;
