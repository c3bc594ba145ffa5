-- One row per input from the person of fact_prompt.
select *
from (
    select
        fact_prompt.*,
        row_number() over (
            partition by fact_prompt.input_id
            order by session_owners.is_copy, fact_prompt.said_at, fact_prompt.session_id, fact_prompt.machine
        ) as place
    from {{ source('cc_etl', 'fact_prompt') }} as fact_prompt
    left join {{ ref('session_owners') }} as session_owners on session_owners.session_id = fact_prompt.session_id
    where coalesce(session_owners.machine, fact_prompt.machine) = fact_prompt.machine
) as ranked
where ranked.place = 1
