-- The homes that were synced, but for the invented one.
select source_id, machine, root_path
from sources
where root_path <> 'demo'
order by source_id
