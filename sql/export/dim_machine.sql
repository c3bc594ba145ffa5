-- One row per machine: `machine` identifies it, and its name is a label.
-- Key: machine
-- Columns:
--   machine name
--   machine_name name
select
    _machines.machine,
    min(_machines.machine_name) as machine_name
from _machines
group by _machines.machine
order by 1;
