-- One row per local day, project and kind of input: how often and how much the person typed.
-- Reads: owned_prompt
select
    owned_prompt.local_day as said_date,
    owned_prompt.project,
    owned_prompt.kind,
    count(*) as prompt_count,
    sum(owned_prompt.text_length) as text_length
from owned_prompt
group by owned_prompt.local_day, owned_prompt.project, owned_prompt.kind
