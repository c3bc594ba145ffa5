-- One row per sub-agent run of dim_agent.
select dim_agent.*
from {{ source('cc_etl', 'dim_agent') }} as dim_agent
inner join {{ ref('session_owners') }} as session_owners
    on session_owners.session_id = dim_agent.session_id and session_owners.machine = dim_agent.machine
