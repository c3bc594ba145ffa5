-- Denials by tool
-- How to read: the share of calls that you, a rule or a hook denied; if it is high, add a rule or change the instructions.
-- Group: feedback
-- Bar: denial_rate
-- Total: call_count, user_rejected_count, permission_denied_count, hook_blocked_count
select
    tool_name,
    sum(call_count) as call_count,
    sum(user_rejected_count) as user_rejected_count,
    sum(permission_denied_count) as permission_denied_count,
    sum(hook_blocked_count) as hook_blocked_count,
    round(1.0 * sum(user_rejected_count + permission_denied_count + hook_blocked_count) / sum(call_count), 3) as denial_rate,
    max(example_reason) as example_reason
from denial_stats
group by tool_name
order by denial_rate desc, call_count desc, tool_name;
