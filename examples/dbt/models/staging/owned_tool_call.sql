-- One row per tool call of fact_tool_call.
select *
from (
    select
        fact_tool_call.*,
        row_number() over (
            partition by fact_tool_call.tool_use_id
            order by session_owners.is_copy, fact_tool_call.called_at, fact_tool_call.session_id, fact_tool_call.machine
        ) as place
    from {{ source('cc_etl', 'fact_tool_call') }} as fact_tool_call
    left join {{ ref('session_owners') }} as session_owners on session_owners.session_id = fact_tool_call.session_id
    where coalesce(session_owners.machine, fact_tool_call.machine) = fact_tool_call.machine
) as ranked
where ranked.place = 1
