-- What the tables for BI tools say is what the views say. Unknown keys are '' in the tables: NULL and '' of a view are one.
with days as (
    select activity_date, model, machine, sum(response_count) as response_count, sum(output_tokens) as output_tokens,
        sum(cost_usd) as cost_usd
    from bi_days
    group by 1, 2, 3
),

shown_days as (
    select response_date as activity_date, coalesce(model, '') as model, coalesce(machine, '') as machine,
        sum(response_count) as response_count, sum(coalesce(output_tokens, 0)) as output_tokens, sum(cost_usd) as cost_usd
    from daily_costs
    group by 1, 2, 3
),

tools as (
    select tool_name, machine, sum(call_count) as call_count, sum(ok_count) as ok_count, sum(error_count) as error_count,
        sum(denied_count) as denied_count, sum(stopped_count) as stopped_count, sum(pending_count) as pending_count,
        sum(call_count - ok_count - error_count - denied_count - stopped_count - pending_count - other_count) as lost_count
    from bi_tools
    group by tool_name, machine
),

shown_tools as (
    select coalesce(name, '') as tool_name, coalesce(machine, '') as machine, sum(call_count) as call_count, sum(ok_count) as ok_count,
        sum(error_count) as error_count, sum(denied_count) as denied_count, sum(stopped_count) as stopped_count,
        sum(pending_count) as pending_count, 0 as lost_count
    from tool_stats
    group by 1, 2
),

signals as (
    select session_id, kind, count(*) as signal_count, sum(is_trivial) as trivial_count
    from bi_feedback
    group by 1, 2
),

shown_signals as (
    select coalesce(session_id, '') as session_id, kind, count(*) as signal_count, sum(is_trivial) as trivial_count
    from feedback
    group by 1, 2
),

-- Counted from the calls themselves: the view reads the parts that the table is summed from.
calls as (
    select session_id, count(*) as tool_call_count, sum(outcome_group = 'error') as tool_error_count
    from tool_calls
    group by session_id
),

changes as (
    select
        messages.session_id,
        count(distinct file_changes.file_path) as changed_file_count,
        coalesce(sum(file_changes.lines_added), 0) as lines_added,
        coalesce(sum(file_changes.lines_removed), 0) as lines_removed
    from file_changes
    join tool_uses on tool_uses.tool_use_id = file_changes.tool_use_id
    join messages on messages.message_id = tool_uses.message_id
    group by messages.session_id
),

shown_sessions as (
    select
        session_overview.*,
        coalesce(calls.tool_call_count, 0) as counted_call_count,
        coalesce(calls.tool_error_count, 0) as counted_error_count,
        coalesce(changes.changed_file_count, 0) as counted_file_count,
        coalesce(changes.lines_added, 0) as counted_lines_added,
        coalesce(changes.lines_removed, 0) as counted_lines_removed
    from session_overview
    left join calls on calls.session_id = session_overview.session_id
    left join changes on changes.session_id = session_overview.session_id
)

select 'bi_days' as table_name, coalesce(shown_days.activity_date, days.activity_date) || ' '
    || coalesce(shown_days.model, days.model) || ' ' || coalesce(shown_days.machine, days.machine) as key
from shown_days
full join days
    on days.activity_date is shown_days.activity_date
    and days.model = shown_days.model
    and days.machine = shown_days.machine
where (days.response_count, days.output_tokens) is not (shown_days.response_count, shown_days.output_tokens)
    or coalesce(
        abs(days.cost_usd - shown_days.cost_usd) > 0.001 + 1e-9 * abs(shown_days.cost_usd),
        days.cost_usd is not shown_days.cost_usd
    )

union all

select 'bi_tools', coalesce(shown_tools.tool_name, tools.tool_name) || ' ' || coalesce(shown_tools.machine, tools.machine)
from shown_tools
full join tools
    on tools.tool_name = shown_tools.tool_name
    and tools.machine = shown_tools.machine
where (
        tools.call_count, tools.ok_count, tools.error_count, tools.denied_count, tools.stopped_count, tools.pending_count,
        tools.lost_count
    ) is not (
        shown_tools.call_count, shown_tools.ok_count, shown_tools.error_count, shown_tools.denied_count,
        shown_tools.stopped_count, shown_tools.pending_count, shown_tools.lost_count
    )

union all

select 'bi_feedback', coalesce(shown_signals.session_id, signals.session_id) || ' ' || coalesce(shown_signals.kind, signals.kind)
from shown_signals
full join signals on signals.session_id = shown_signals.session_id and signals.kind = shown_signals.kind
where (signals.signal_count, signals.trivial_count) is not (shown_signals.signal_count, shown_signals.trivial_count)

union all

select 'bi_sessions', coalesce(shown_sessions.session_id, bi_sessions.session_id)
from shown_sessions
full join bi_sessions on bi_sessions.session_id = shown_sessions.session_id
where (
        bi_sessions.message_count, bi_sessions.prompt_count, bi_sessions.interruption_count, bi_sessions.tool_call_count,
        bi_sessions.tool_error_count, bi_sessions.agent_count, bi_sessions.changed_file_count, bi_sessions.lines_added,
        bi_sessions.lines_removed, bi_sessions.response_count, bi_sessions.output_tokens, bi_sessions.duration_s
    ) is not (
        shown_sessions.message_count, shown_sessions.prompt_count, shown_sessions.interruption_count,
        shown_sessions.counted_call_count, shown_sessions.counted_error_count, shown_sessions.agent_count,
        shown_sessions.counted_file_count, shown_sessions.counted_lines_added, shown_sessions.counted_lines_removed,
        shown_sessions.response_count, shown_sessions.output_tokens, shown_sessions.duration_s
    )
    or coalesce(
        abs(bi_sessions.cost_usd - shown_sessions.cost_usd) > 0.001 + 1e-9 * abs(shown_sessions.cost_usd),
        bi_sessions.cost_usd is not shown_sessions.cost_usd
    )
