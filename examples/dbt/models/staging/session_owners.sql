-- One row per session: the machine that has most of it.
select
    ranked.session_id,
    ranked.machine,
    case when ranked.forked_from_session_id is null and ranked.resumed_from_session_id is null then 0 else 1 end as is_copy
from (
    select
        dim_session.session_id,
        dim_session.machine,
        dim_session.forked_from_session_id,
        dim_session.resumed_from_session_id,
        row_number() over (
            partition by dim_session.session_id
            order by dim_session.message_count desc, dim_session.line_count desc, dim_session.machine
        ) as place
    from {{ source('cc_etl', 'dim_session') }} as dim_session
) as ranked
where ranked.place = 1
