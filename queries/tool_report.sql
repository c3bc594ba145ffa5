-- Tools: calls, errors, times
-- How to read: a row per tool and machine; the error rate is the share of the calls that ran, without denied and interrupted ones.
-- Group: tools
-- Bar: call_count
-- Total: call_count, ok_count, error_count, invalid_input_count, denied_count, stopped_count, result_bytes
-- Chart: bars name call_count
select name, call_count, ok_count, error_count, invalid_input_count, denied_count, stopped_count, error_rate,
    p50_duration_ms, p95_duration_ms, result_bytes, machine
from tool_stats
order by call_count desc, name, machine;
