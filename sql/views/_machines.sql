create view _machines as
-- One row per Claude home, with the machine it is from: a random id, or the name given with --machine.
select
    sources.source_id,
    case when sources.machine_id like 'name:%' then substr(sources.machine_id, 6) else sources.machine_id end as machine,
    sources.machine as machine_name -- a label
from sources;
