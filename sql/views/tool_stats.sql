create view tool_stats as
-- One row per tool: how often it was called, how it ended, how long it took.
with calls as (
    select
        tool_uses.name,
        tool_uses.mcp_server,
        coalesce(tool_results.outcome, 'pending') as outcome,
        coalesce(tool_results.duration_ms, tool_results.elapsed_ms) as duration_ms,
        tool_results.byte_length
    from tool_uses
    left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
),

-- Calls that the person stopped or denied say nothing of how long the tool takes.
timed as (
    select
        name,
        duration_ms,
        row_number() over (partition by name order by duration_ms) as place,
        count(*) over (partition by name) as timed_count
    from calls
    where outcome in ('ok', 'error') and duration_ms >= 0
),

percentiles as (
    select
        name,
        max(case when place = (timed_count + 1) / 2 then duration_ms end) as p50_duration_ms,
        max(case when place = (timed_count * 95 + 99) / 100 then duration_ms end) as p95_duration_ms
    from timed
    group by name
)

select
    calls.name,
    max(calls.mcp_server) as mcp_server,
    count(*) as call_count,
    sum(calls.outcome = 'ok') as ok_count,
    sum(calls.outcome in ('error', 'timeout')) as error_count,
    sum(calls.outcome = 'invalid_input') as invalid_input_count,
    sum(calls.outcome in ('user_rejected', 'permission_denied', 'hook_blocked')) as denied_count,
    sum(calls.outcome in ('interrupted', 'cancelled')) as stopped_count,
    sum(calls.outcome = 'backgrounded') as backgrounded_count,
    sum(calls.outcome = 'pending') as pending_count,
    round(
        1.0 * sum(calls.outcome in ('error', 'timeout', 'invalid_input'))
        / nullif(sum(calls.outcome in ('ok', 'error', 'timeout', 'invalid_input')), 0), 3
    ) as error_rate, -- of the calls that ran
    percentiles.p50_duration_ms,
    percentiles.p95_duration_ms,
    sum(calls.byte_length) as result_bytes
from calls
left join percentiles on percentiles.name = calls.name
group by calls.name;
