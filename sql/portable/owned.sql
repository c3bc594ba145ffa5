-- What the team has, without copies. Define these views once, over the data sets of `cc-etl export`; the questions beside this file read
-- them. The text is the same for DuckDB, ClickHouse, Spark, DataFusion, Polars and PostgreSQL: examples/engines shows how to run it.
--
-- Several machines may have a session, because homes are copied and sessions are resumed elsewhere. The rule:
--
--   1. All facts of a session are those of its owner, the machine that has most of it. Parts of two machines do not fit together: each
--      machine counted its figures, such as the number of a turn, from what it had.
--   2. Facts of a session that only one machine has, or of no session, are all taken.
--   3. A fact that is left in two sessions, because one of them is a copy of the other, counts once, by its natural id: in the session
--      that is no copy, then in the first one.
--
-- Where one machine has a session and another one only its continuation, costs, calls and prompts are exact, but turns and durations are
-- those that each machine saw. `cc-etl merge` knows better, because it reads the transcripts again.
--
-- `select *`: the columns depend on the profile of the export. `place` is always 1.

create view session_owners as
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
    from dim_session
) as ranked
where ranked.place = 1;

create view owned_session as
-- One row per session of dim_session.
select dim_session.*
from dim_session
inner join session_owners
    on session_owners.session_id = dim_session.session_id and session_owners.machine = dim_session.machine;

create view owned_agent as
-- One row per sub-agent run of dim_agent.
select dim_agent.*
from dim_agent
inner join session_owners
    on session_owners.session_id = dim_agent.session_id and session_owners.machine = dim_agent.machine;

create view owned_response as
-- One row per API response of fact_response.
select *
from (
    select
        fact_response.*,
        row_number() over (
            partition by fact_response.api_message_id, fact_response.id_scope, fact_response.kind
            order by session_owners.is_copy, fact_response.responded_at, fact_response.session_id, fact_response.machine
        ) as place
    from fact_response
    left join session_owners on session_owners.session_id = fact_response.session_id
    where coalesce(session_owners.machine, fact_response.machine) = fact_response.machine
) as ranked
where ranked.place = 1;

create view owned_tool_call as
-- One row per tool call of fact_tool_call.
select *
from (
    select
        fact_tool_call.*,
        row_number() over (
            partition by fact_tool_call.tool_use_id
            order by session_owners.is_copy, fact_tool_call.called_at, fact_tool_call.session_id, fact_tool_call.machine
        ) as place
    from fact_tool_call
    left join session_owners on session_owners.session_id = fact_tool_call.session_id
    where coalesce(session_owners.machine, fact_tool_call.machine) = fact_tool_call.machine
) as ranked
where ranked.place = 1;

create view owned_file_change as
-- One row per file changed by a tool call of fact_file_change.
select *
from (
    select
        fact_file_change.*,
        row_number() over (
            partition by fact_file_change.tool_use_id, fact_file_change.file_path
            order by session_owners.is_copy, fact_file_change.changed_at, fact_file_change.session_id, fact_file_change.machine
        ) as place
    from fact_file_change
    left join session_owners on session_owners.session_id = fact_file_change.session_id
    where coalesce(session_owners.machine, fact_file_change.machine) = fact_file_change.machine
) as ranked
where ranked.place = 1;

create view owned_feedback as
-- One row per signal from the person of fact_feedback.
select *
from (
    select
        fact_feedback.*,
        row_number() over (
            partition by fact_feedback.signal_id
            order by session_owners.is_copy, fact_feedback.said_at, fact_feedback.session_id, fact_feedback.machine
        ) as place
    from fact_feedback
    left join session_owners on session_owners.session_id = fact_feedback.session_id
    where coalesce(session_owners.machine, fact_feedback.machine) = fact_feedback.machine
) as ranked
where ranked.place = 1;

create view owned_prompt as
-- One row per input from the person of fact_prompt.
select *
from (
    select
        fact_prompt.*,
        row_number() over (
            partition by fact_prompt.input_id
            order by session_owners.is_copy, fact_prompt.said_at, fact_prompt.session_id, fact_prompt.machine
        ) as place
    from fact_prompt
    left join session_owners on session_owners.session_id = fact_prompt.session_id
    where coalesce(session_owners.machine, fact_prompt.machine) = fact_prompt.machine
) as ranked
where ranked.place = 1;

create view owned_turn as
-- One row per turn of fact_turn.
select *
from (
    select
        fact_turn.*,
        row_number() over (
            partition by fact_turn.uuid
            order by session_owners.is_copy, fact_turn.started_at, fact_turn.session_id, fact_turn.machine
        ) as place
    from fact_turn
    left join session_owners on session_owners.session_id = fact_turn.session_id
    where coalesce(session_owners.machine, fact_turn.machine) = fact_turn.machine
) as ranked
where ranked.place = 1;

create view owned_message as
-- One row per message of fact_message.
select *
from (
    select
        fact_message.*,
        row_number() over (
            partition by fact_message.uuid
            order by session_owners.is_copy, fact_message.sent_at, fact_message.session_id, fact_message.machine
        ) as place
    from fact_message
    left join session_owners on session_owners.session_id = fact_message.session_id
    where coalesce(session_owners.machine, fact_message.machine) = fact_message.machine
) as ranked
where ranked.place = 1;
