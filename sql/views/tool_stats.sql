create view tool_stats as
-- One row per tool and machine: number of calls, their outcomes and durations.
with calls as materialized ( -- once and in rowid order, because tool_results has long rows
    select name, mcp_server, machine, outcome, outcome_group, run_ms, result_bytes
    from tool_calls
),

tools as materialized (
    select
        name,
        machine,
        max(mcp_server) as mcp_server,
        count(*) as call_count,
        sum(outcome_group = 'ok') as ok_count,
        sum(outcome_group = 'error') as error_count,
        sum(outcome = 'invalid_input') as invalid_input_count,
        sum(outcome_group = 'denied') as denied_count,
        sum(outcome_group = 'stopped') as stopped_count,
        sum(outcome = 'backgrounded') as backgrounded_count,
        sum(outcome_group = 'pending') as pending_count,
        count(run_ms) as timed_count,
        sum(result_bytes) as result_bytes
    from calls
    group by name, machine
),

timed as (
    select name, machine, run_ms, row_number() over (partition by name, machine order by run_ms) as place
    from calls
    where run_ms is not null
),

percentiles as (
    select
        timed.name,
        timed.machine,
        max(case when timed.place = (tools.timed_count + 1) / 2 then timed.run_ms end) as p50_duration_ms,
        max(case when timed.place = (tools.timed_count * 95 + 99) / 100 then timed.run_ms end) as p95_duration_ms
    from timed
    join tools
        on tools.name is timed.name
        and tools.machine is timed.machine
        and timed.place in ((tools.timed_count + 1) / 2, (tools.timed_count * 95 + 99) / 100)
    group by timed.name, timed.machine
)

select
    tools.name,
    tools.mcp_server,
    tools.machine,
    tools.call_count,
    tools.ok_count,
    tools.error_count,
    tools.invalid_input_count, -- included in error_count
    tools.denied_count,
    tools.stopped_count,
    tools.backgrounded_count,
    tools.pending_count,
    round(1.0 * tools.error_count / nullif(tools.ok_count + tools.error_count, 0), 3) as error_rate, -- of the calls that ran
    percentiles.p50_duration_ms,
    percentiles.p95_duration_ms,
    tools.result_bytes
from tools
left join percentiles
    on percentiles.name is tools.name
    and percentiles.machine is tools.machine;
