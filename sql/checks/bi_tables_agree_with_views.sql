-- What the tables for BI tools say is what the views say.
with days as (
    select activity_date, model, sum(response_count) as response_count, sum(output_tokens) as output_tokens,
        sum(cost_usd) as cost_usd
    from bi_days
    group by activity_date, model
),

tools as (
    select tool_name, sum(call_count) as call_count, sum(error_count) as error_count, sum(denied_count) as denied_count
    from bi_tools
    group by tool_name
),

signals as (
    select session_id, count(*) as signal_count, sum(kind = 'correction') as correction_count,
        sum(is_trivial) as trivial_count
    from bi_feedback
    group by session_id
),

-- What is not known is '' in the tables, so NULL and '' of a view are one key.
shown_days as (
    select response_date, coalesce(model, '') as model, sum(response_count) as response_count,
        sum(coalesce(output_tokens, 0)) as output_tokens, sum(cost_usd) as cost_usd
    from daily_costs
    group by 1, 2
),

shown_tools as (
    select coalesce(name, '') as name, sum(call_count) as call_count,
        sum(error_count + invalid_input_count) as error_count, sum(denied_count) as denied_count
    from tool_stats
    group by 1
),

shown_signals as (
    select coalesce(session_id, '') as session_id, sum(signal_count) as signal_count,
        sum(correction_count) as correction_count, sum(trivial_count) as trivial_count
    from session_feedback
    group by 1
),

-- The view has these from the parts that the table is summed from.
changes as (
    select
        messages.session_id,
        count(distinct file_changes.file_path) as changed_file_count,
        coalesce(sum(file_changes.lines_added), 0) as lines_added,
        coalesce(sum(file_changes.lines_removed), 0) as lines_removed
    from file_changes
    join tool_uses on tool_uses.tool_use_id = file_changes.tool_use_id
    join messages on messages.message_id = tool_uses.message_id
    where messages.session_id is not null
    group by messages.session_id
)

select 'bi_days' as table_name, coalesce(shown_days.response_date, days.activity_date) || ' '
    || coalesce(shown_days.model, days.model) as key
from shown_days
full join days on days.activity_date is shown_days.response_date and days.model = shown_days.model
where days.response_count is not shown_days.response_count
    or days.output_tokens is not shown_days.output_tokens
    or coalesce(
        abs(days.cost_usd - shown_days.cost_usd) > 0.001 + 1e-9 * abs(shown_days.cost_usd),
        days.cost_usd is not shown_days.cost_usd
    )

union all

select 'bi_tools', coalesce(shown_tools.name, tools.tool_name)
from shown_tools
full join tools on tools.tool_name = shown_tools.name
where tools.call_count is not shown_tools.call_count
    or tools.error_count is not shown_tools.error_count
    or tools.denied_count is not shown_tools.denied_count

union all

select 'bi_tools', session_id || ' ' || tool_name
from bi_tools
where call_count <> ok_count + error_count + denied_count + stopped_count + pending_count + other_count

union all

select 'bi_feedback', coalesce(shown_signals.session_id, signals.session_id)
from shown_signals
full join signals on signals.session_id = shown_signals.session_id
where signals.signal_count is not shown_signals.signal_count
    or signals.correction_count is not shown_signals.correction_count
    or signals.trivial_count is not shown_signals.trivial_count

union all

select 'bi_sessions', coalesce(session_overview.session_id, bi_sessions.session_id)
from session_overview
full join bi_sessions on bi_sessions.session_id = session_overview.session_id
where bi_sessions.message_count is not session_overview.message_count
    or bi_sessions.prompt_count is not session_overview.prompt_count
    or bi_sessions.tool_call_count is not session_overview.tool_call_count
    or bi_sessions.agent_count is not session_overview.agent_count
    or bi_sessions.lines_added is not session_overview.lines_added
    or bi_sessions.response_count is not session_overview.response_count
    or bi_sessions.output_tokens is not session_overview.output_tokens
    or coalesce(
        abs(bi_sessions.cost_usd - session_overview.cost_usd) > 0.001 + 1e-9 * abs(session_overview.cost_usd),
        bi_sessions.cost_usd is not session_overview.cost_usd
    )

union all

select 'bi_sessions', coalesce(changes.session_id, bi_sessions.session_id)
from bi_sessions
full join changes on changes.session_id = bi_sessions.session_id
where bi_sessions.changed_file_count is not coalesce(changes.changed_file_count, 0)
    or bi_sessions.lines_added is not coalesce(changes.lines_added, 0)
    or bi_sessions.lines_removed is not coalesce(changes.lines_removed, 0);
