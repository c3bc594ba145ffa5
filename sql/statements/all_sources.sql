-- The homes.
select source_id, machine, root_path
from sources
