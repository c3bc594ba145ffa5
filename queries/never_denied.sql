-- Commands that were never denied
-- How to read: often called and never denied: candidates for a rule that allows them.
-- :limit number - rows to show; 20 without it
-- Bar: call_count
select tool_name, command_prefix, call_count
from denial_stats
where user_rejected_count = 0 and permission_denied_count = 0 and hook_blocked_count = 0
order by call_count desc, tool_name, command_prefix
limit coalesce(nullif(:limit, ''), 20);
