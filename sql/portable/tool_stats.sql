-- One row per tool and machine: number of calls, their outcomes and durations.
-- Reads: owned_tool_call
with placed as (
    select
        owned_tool_call.tool_name as name,
        owned_tool_call.mcp_server,
        owned_tool_call.machine,
        owned_tool_call.outcome,
        owned_tool_call.outcome_group,
        owned_tool_call.run_ms,
        owned_tool_call.result_bytes,
        -- Calls without a duration come last.
        row_number() over (
            partition by owned_tool_call.tool_name, owned_tool_call.machine
            order by case when owned_tool_call.run_ms is null then 1 else 0 end, owned_tool_call.run_ms
        ) as place,
        count(owned_tool_call.run_ms) over (partition by owned_tool_call.tool_name, owned_tool_call.machine) as timed_count
    from owned_tool_call
)

select
    placed.name,
    max(placed.mcp_server) as mcp_server,
    placed.machine,
    count(*) as call_count,
    sum(case when placed.outcome_group = 'ok' then 1 else 0 end) as ok_count,
    sum(case when placed.outcome_group = 'error' then 1 else 0 end) as error_count,
    sum(case when placed.outcome = 'invalid_input' then 1 else 0 end) as invalid_input_count,
    sum(case when placed.outcome_group = 'denied' then 1 else 0 end) as denied_count,
    sum(case when placed.outcome_group = 'stopped' then 1 else 0 end) as stopped_count,
    sum(case when placed.outcome = 'backgrounded' then 1 else 0 end) as backgrounded_count,
    sum(case when placed.outcome_group = 'pending' then 1 else 0 end) as pending_count,
    max(
        case when 2 * placed.place in (placed.timed_count, placed.timed_count + 1) then placed.run_ms end
    ) as p50_duration_ms,
    max(
        case when 100 * placed.place between 95 * placed.timed_count and 95 * placed.timed_count + 99 then placed.run_ms end
    ) as p95_duration_ms,
    sum(placed.result_bytes) as result_bytes
from placed
group by placed.name, placed.machine
