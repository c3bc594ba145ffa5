-- Homes in the database, and how many of them are the demo.
select count(*), coalesce(sum(root_path = 'demo'), 0)
from sources
