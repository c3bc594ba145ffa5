-- Record and block types that this version does not know.
select level, name, occurrence_count
from unknown_kinds
where level <> 'key'
order by occurrence_count desc, name
