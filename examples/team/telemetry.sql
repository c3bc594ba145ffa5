-- Transcripts beside Claude Code's OpenTelemetry, in DuckDB, PostgreSQL or ClickHouse. `telemetry` has one row per log event, with the
-- attributes of the events as columns: event_name, session_id (session.id), request_id, tool_use_id, prompt_id (prompt.id),
-- user_account_uuid (user.account_uuid), cost_usd, duration_ms, occurred_at. Make such a view over what your collector stores.

-- Responses that both have, or only one: telemetry begins when it is switched on, and sees requests that no transcript has, such as
-- those for titles; transcripts know what was before.
select
    case
        when api_requests.request_id is null then 'only in transcripts'
        when responses.request_id is null then 'only in telemetry'
        else 'in both'
    end as found,
    count(*) as request_count,
    sum(responses.cost_usd) as cost_usd,
    sum(api_requests.cost_usd) as telemetry_cost_usd
from (
    select owned_response.request_id, sum(owned_response.cost_usd) as cost_usd
    from owned_response
    where owned_response.request_id is not null
    group by owned_response.request_id
) as responses
full join (
    select telemetry.request_id, sum(telemetry.cost_usd) as cost_usd
    from telemetry
    where telemetry.event_name = 'api_request' and telemetry.request_id is not null
    group by telemetry.request_id
) as api_requests on api_requests.request_id = responses.request_id
group by 1
order by 1;

-- Tools: the duration that telemetry measured, and the outcome that the transcript has.
select
    owned_tool_call.tool_name,
    owned_tool_call.outcome_group,
    count(*) as call_count,
    sum(tool_results.duration_ms) as telemetry_duration_ms,
    sum(owned_tool_call.run_ms) as duration_ms
from owned_tool_call
join telemetry as tool_results
    on tool_results.event_name = 'tool_result' and tool_results.tool_use_id = owned_tool_call.tool_use_id
group by owned_tool_call.tool_name, owned_tool_call.outcome_group
order by call_count desc, owned_tool_call.tool_name, owned_tool_call.outcome_group;

-- Accounts: only telemetry knows them. A session has one.
select
    accounts.user_account_uuid,
    count(distinct owned_response.session_id) as session_count,
    sum(owned_response.cost_usd) as cost_usd
from owned_response
left join (
    select telemetry.session_id, min(telemetry.user_account_uuid) as user_account_uuid
    from telemetry
    group by telemetry.session_id
) as accounts on accounts.session_id = owned_response.session_id
group by accounts.user_account_uuid
order by cost_usd desc;

-- Prompts: what the turns cost that each prompt began, in versions that write prompt.id. A copy of a session has the same ids.
select
    owned_turn.session_id,
    owned_turn.prompt_id,
    count(*) as turn_count,
    sum(owned_turn.response_count) as response_count,
    sum(owned_turn.cost_usd) as cost_usd
from owned_turn
join (
    select distinct telemetry.session_id, telemetry.prompt_id
    from telemetry
    where telemetry.event_name = 'user_prompt'
) as user_prompts on user_prompts.session_id = owned_turn.session_id and user_prompts.prompt_id = owned_turn.prompt_id
group by owned_turn.session_id, owned_turn.prompt_id
order by cost_usd desc, owned_turn.session_id, owned_turn.prompt_id;
