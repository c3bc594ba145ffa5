-- From a prompt to the response
-- How to read: how long you wait for the first response, and until the turn ends; half of the turns are shorter than p50, and 95 % than p95.
-- Group: conversation
-- :project - name of a project or a part of it; all projects without it
-- Bar: p50_turn_ms
with waits as (
    select
        turns.project,
        coalesce(turns.recorded_duration_ms, turns.duration_ms) as turn_ms,
        cast(round((julianday(min(api_responses.responded_at)) - julianday(turns.started_at)) * 86400000) as integer)
            as first_response_ms
    from turns
    join api_responses
        on api_responses.session_id = turns.session_id
        and api_responses.responded_at between turns.started_at and turns.ended_at
        and api_responses.agent_run_id is null
    where coalesce(turns.project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
    group by turns.session_id, turns.turn_number
),

places as (
    select
        *,
        row_number() over (partition by project order by first_response_ms) as first_place,
        row_number() over (partition by project order by turn_ms) as turn_place,
        count(*) over (partition by project) as turn_count
    from waits
)

select
    project,
    turn_count,
    max(case when first_place = (turn_count + 1) / 2 then first_response_ms end) as p50_first_response_ms,
    max(case when first_place = (turn_count * 95 + 99) / 100 then first_response_ms end) as p95_first_response_ms,
    max(case when turn_place = (turn_count + 1) / 2 then turn_ms end) as p50_turn_ms,
    max(case when turn_place = (turn_count * 95 + 99) / 100 then turn_ms end) as p95_turn_ms
from places
group by project
order by turn_count desc, project;
