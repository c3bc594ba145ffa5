-- Whether anything is resolved.
select 1
from sessions
limit 1
