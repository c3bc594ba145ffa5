-- Slow hooks
-- How to read: largest total time first; versions 2.1.9 to 2.1.63 do not record durations.
-- Group: tools
-- Bar: total_duration_ms
select
    hook_event,
    command,
    sum(run_count) as run_count,
    sum(error_count) as error_count,
    sum(block_count) as block_count,
    cast(sum(total_duration_ms) / nullif(sum(timed_count), 0) as integer) as mean_duration_ms,
    max(max_duration_ms) as max_duration_ms,
    sum(total_duration_ms) as total_duration_ms
from hook_stats
group by hook_event, command
order by coalesce(sum(total_duration_ms), 0) desc, sum(run_count) desc, hook_event, command;
