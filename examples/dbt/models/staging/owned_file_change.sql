-- One row per file changed by a tool call of fact_file_change.
select *
from (
    select
        fact_file_change.*,
        row_number() over (
            partition by fact_file_change.tool_use_id, fact_file_change.file_path
            order by session_owners.is_copy, fact_file_change.changed_at, fact_file_change.session_id, fact_file_change.machine
        ) as place
    from {{ source('cc_etl', 'fact_file_change') }} as fact_file_change
    left join {{ ref('session_owners') }} as session_owners on session_owners.session_id = fact_file_change.session_id
    where coalesce(session_owners.machine, fact_file_change.machine) = fact_file_change.machine
) as ranked
where ranked.place = 1
