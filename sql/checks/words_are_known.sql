-- Every outcome and every prompt kind that rows have is in its table, which says how it counts.
select distinct 'outcome' as word, outcome as value
from tool_results
where outcome not in (select outcome from outcomes)
union all
select distinct 'prompt_kind', prompt_kind
from messages
where prompt_kind not in (select prompt_kind from prompt_kinds)
union all
select distinct 'prompt_kind', prompt_kind
from content_blocks
where prompt_kind not in (select prompt_kind from prompt_kinds)
