-- One row per signal from the person of fact_feedback.
select *
from (
    select
        fact_feedback.*,
        row_number() over (
            partition by fact_feedback.signal_id
            order by session_owners.is_copy, fact_feedback.said_at, fact_feedback.session_id, fact_feedback.machine
        ) as place
    from {{ source('cc_etl', 'fact_feedback') }} as fact_feedback
    left join {{ ref('session_owners') }} as session_owners on session_owners.session_id = fact_feedback.session_id
    where coalesce(session_owners.machine, fact_feedback.machine) = fact_feedback.machine
) as ranked
where ranked.place = 1
