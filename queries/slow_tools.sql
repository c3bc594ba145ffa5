-- Slow tool calls
-- How to read: single calls, the slowest first; if a tool does not report its duration, it includes the wait for your permission.
-- Group: tools
-- :limit number - rows to show; 20 without it
-- Bar: duration_ms
select called_at, name, coalesce(command, file_path, pattern, url, query, description) as what, outcome, duration_ms, session_id
from tool_calls
where duration_ms is not null and outcome_group in ('ok', 'error') and outcome <> 'invalid_input'
order by duration_ms desc, tool_use_id
limit coalesce(nullif(:limit, ''), 20);
