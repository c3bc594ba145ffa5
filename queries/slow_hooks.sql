-- Slow hooks
-- How to read: largest total time first; versions 2.1.9 to 2.1.63 do not record durations.
-- Group: tools
-- Bar: total_duration_ms
select hook_event, command, run_count, error_count, block_count, mean_duration_ms, max_duration_ms, total_duration_ms
from hook_stats
order by coalesce(total_duration_ms, 0) desc, run_count desc, hook_event, command;
