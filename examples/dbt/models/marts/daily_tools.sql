-- One row per local day, machine, project and tool: calls, their outcomes and durations.
select
    owned_tool_call.local_day,
    owned_tool_call.machine,
    owned_tool_call.project,
    owned_tool_call.tool_name,
    max(owned_tool_call.mcp_server) as mcp_server,
    count(*) as call_count,
    cast(sum(case when owned_tool_call.outcome_group = 'ok' then 1 else 0 end) as bigint) as ok_count,
    cast(sum(case when owned_tool_call.outcome_group = 'error' then 1 else 0 end) as bigint) as error_count,
    cast(sum(case when owned_tool_call.outcome_group = 'denied' then 1 else 0 end) as bigint) as denied_count,
    cast(sum(case when owned_tool_call.outcome_group = 'stopped' then 1 else 0 end) as bigint) as stopped_count,
    cast(sum(case when owned_tool_call.outcome_group = 'pending' then 1 else 0 end) as bigint) as pending_count,
    cast(sum(case when owned_tool_call.outcome_group = 'other' then 1 else 0 end) as bigint) as other_count,
    count(owned_tool_call.run_ms) as timed_count,
    cast(sum(owned_tool_call.run_ms) as bigint) as duration_ms,
    cast(sum(owned_tool_call.result_bytes) as bigint) as result_bytes
from {{ ref('owned_tool_call') }} as owned_tool_call
group by owned_tool_call.local_day, owned_tool_call.machine, owned_tool_call.project, owned_tool_call.tool_name
