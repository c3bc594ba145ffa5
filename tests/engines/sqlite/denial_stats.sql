select
    tool_name,
    machine,
    sum(call_count) as call_count,
    sum(user_rejected_count) as user_rejected_count,
    sum(permission_denied_count) as permission_denied_count,
    sum(hook_blocked_count) as hook_blocked_count,
    max(last_denied_at) as last_denied_at
from denial_stats
group by tool_name, machine;
