create view tool_stats as
-- One row per tool: how often it was called, how it ended, how long it took.
with calls as materialized ( -- once, and in the order of the rows: those of answers are long
    select
        tool_uses.name,
        tool_uses.mcp_server,
        coalesce(tool_results.outcome, 'pending') as outcome,
        coalesce(tool_results.duration_ms, tool_results.elapsed_ms) as duration_ms,
        tool_results.byte_length
    from tool_uses not indexed
    left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
),

outcomes as materialized (
    select
        name,
        outcome,
        max(mcp_server) as mcp_server,
        count(*) as call_count,
        -- Calls that the person stopped or denied say nothing of how long the tool takes.
        sum(outcome in ('ok', 'error') and coalesce(duration_ms, -1) >= 0) as timed_count,
        sum(byte_length) as result_bytes
    from calls
    group by name, outcome
),

tools as materialized (
    select
        name,
        max(mcp_server) as mcp_server,
        sum(call_count) as call_count,
        sum(case when outcome = 'ok' then call_count else 0 end) as ok_count,
        sum(case when outcome in ('error', 'timeout') then call_count else 0 end) as error_count,
        sum(case when outcome = 'invalid_input' then call_count else 0 end) as invalid_input_count,
        sum(case when outcome in ('user_rejected', 'permission_denied', 'hook_blocked') then call_count else 0 end)
            as denied_count,
        sum(case when outcome in ('interrupted', 'cancelled') then call_count else 0 end) as stopped_count,
        sum(case when outcome = 'backgrounded' then call_count else 0 end) as backgrounded_count,
        sum(case when outcome = 'pending' then call_count else 0 end) as pending_count,
        sum(timed_count) as timed_count,
        sum(result_bytes) as result_bytes
    from outcomes
    group by name
),

timed as (
    select name, duration_ms, row_number() over (partition by name order by duration_ms) as place
    from calls
    where outcome in ('ok', 'error') and duration_ms >= 0
),

percentiles as (
    select
        timed.name,
        max(case when timed.place = (tools.timed_count + 1) / 2 then timed.duration_ms end) as p50_duration_ms,
        max(case when timed.place = (tools.timed_count * 95 + 99) / 100 then timed.duration_ms end) as p95_duration_ms
    from timed
    join tools
        on tools.name = timed.name
        and timed.place in ((tools.timed_count + 1) / 2, (tools.timed_count * 95 + 99) / 100)
    group by timed.name
)

select
    tools.name,
    tools.mcp_server,
    tools.call_count,
    tools.ok_count,
    tools.error_count,
    tools.invalid_input_count,
    tools.denied_count,
    tools.stopped_count,
    tools.backgrounded_count,
    tools.pending_count,
    round(
        1.0 * (tools.error_count + tools.invalid_input_count)
        / nullif(tools.ok_count + tools.error_count + tools.invalid_input_count, 0), 3
    ) as error_rate, -- of the calls that ran
    percentiles.p50_duration_ms,
    percentiles.p95_duration_ms,
    tools.result_bytes
from tools
left join percentiles on percentiles.name = tools.name;
