-- Fragments that are no records, by their reason.
select reason, count(*) as fragment_count, sum(length(raw)) as fragment_bytes
from rejected_lines
group by reason
order by fragment_count desc, reason
