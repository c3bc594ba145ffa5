-- One row per API response of fact_response.
select *
from (
    select
        fact_response.*,
        row_number() over (
            partition by fact_response.api_message_id, fact_response.id_scope, fact_response.kind
            order by session_owners.is_copy, fact_response.responded_at, fact_response.session_id, fact_response.machine
        ) as place
    from {{ source('cc_etl', 'fact_response') }} as fact_response
    left join {{ ref('session_owners') }} as session_owners on session_owners.session_id = fact_response.session_id
    where coalesce(session_owners.machine, fact_response.machine) = fact_response.machine
) as ranked
where ranked.place = 1
