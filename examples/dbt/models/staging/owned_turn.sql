-- One row per turn of fact_turn.
select *
from (
    select
        fact_turn.*,
        row_number() over (
            partition by fact_turn.uuid
            order by session_owners.is_copy, fact_turn.started_at, fact_turn.session_id, fact_turn.machine
        ) as place
    from {{ source('cc_etl', 'fact_turn') }} as fact_turn
    left join {{ ref('session_owners') }} as session_owners on session_owners.session_id = fact_turn.session_id
    where coalesce(session_owners.machine, fact_turn.machine) = fact_turn.machine
) as ranked
where ranked.place = 1
