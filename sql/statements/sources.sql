-- name: all_sources
-- The homes.
select source_id, machine_id, root_path
from sources

-- name: count_sources
-- Homes in the database, and how many of them are the demo.
select count(*), coalesce(sum(root_path = 'demo'), 0)
from sources

-- name: describe_sources
-- The homes as they are, for another database.
select source_id, machine_id, machine, root_path, product
from sources

-- name: find_source
select source_id, machine
from sources
where machine_id = ?1 and root_path = ?2

-- name: insert_source
insert into sources (machine_id, machine, root_path, product)
values (?1, ?2, ?3, ?4)

-- name: list_sources
-- The homes, without the demo.
select source_id, machine_id, root_path
from sources
where root_path <> 'demo'
order by source_id

-- name: name_source
update sources
set machine = ?2
where source_id = ?1
