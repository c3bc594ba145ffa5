select source_id
from sources
where machine = ?1 and root_path = ?2
