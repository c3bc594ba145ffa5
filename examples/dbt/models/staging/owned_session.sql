-- One row per session of dim_session.
select dim_session.*
from {{ source('cc_etl', 'dim_session') }} as dim_session
inner join {{ ref('session_owners') }} as session_owners
    on session_owners.session_id = dim_session.session_id and session_owners.machine = dim_session.machine
