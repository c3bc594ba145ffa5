-- One row per message of fact_message.
select *
from (
    select
        fact_message.*,
        row_number() over (
            partition by fact_message.uuid
            order by session_owners.is_copy, fact_message.sent_at, fact_message.session_id, fact_message.machine
        ) as place
    from {{ source('cc_etl', 'fact_message') }} as fact_message
    left join {{ ref('session_owners') }} as session_owners on session_owners.session_id = fact_message.session_id
    where coalesce(session_owners.machine, fact_message.machine) = fact_message.machine
) as ranked
where ranked.place = 1
