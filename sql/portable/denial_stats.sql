-- One row per tool and machine: how often the person or a rule denied it.
-- Reads: owned_tool_call
select
    owned_tool_call.tool_name,
    owned_tool_call.machine,
    count(*) as call_count,
    sum(case when owned_tool_call.outcome = 'user_rejected' then 1 else 0 end) as user_rejected_count,
    sum(case when owned_tool_call.outcome = 'permission_denied' then 1 else 0 end) as permission_denied_count,
    sum(case when owned_tool_call.outcome = 'hook_blocked' then 1 else 0 end) as hook_blocked_count,
    max(case when owned_tool_call.outcome_group = 'denied' then owned_tool_call.called_at end) as last_denied_at
from owned_tool_call
group by owned_tool_call.tool_name, owned_tool_call.machine
