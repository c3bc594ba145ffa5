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

select 'bi_days' as table_name, daily_costs.response_date || ' ' || coalesce(daily_costs.model, '') as key
from daily_costs
left join days on days.activity_date is daily_costs.response_date and days.model = coalesce(daily_costs.model, '')
where days.response_count is not daily_costs.response_count
    or days.output_tokens is not coalesce(daily_costs.output_tokens, 0)
    or coalesce(abs(days.cost_usd - daily_costs.cost_usd) > 0.001, days.cost_usd is not daily_costs.cost_usd)

union all

select 'bi_days', days.activity_date || ' ' || days.model
from days
where not exists (
    select 1
    from daily_costs
    where daily_costs.response_date is days.activity_date and coalesce(daily_costs.model, '') = days.model
)

union all

select 'bi_tools', coalesce(tool_stats.name, tools.tool_name)
from tool_stats
full join tools on tools.tool_name = coalesce(tool_stats.name, '')
where tools.call_count is not tool_stats.call_count
    or tools.error_count is not tool_stats.error_count + tool_stats.invalid_input_count
    or tools.denied_count is not tool_stats.denied_count

union all

select 'bi_tools', session_id || ' ' || tool_name
from bi_tools
where call_count <> ok_count + error_count + denied_count + stopped_count + pending_count + other_count

union all

select 'bi_feedback', coalesce(session_feedback.session_id, signals.session_id)
from session_feedback
full join signals on signals.session_id = coalesce(session_feedback.session_id, '')
where signals.signal_count is not session_feedback.signal_count
    or signals.correction_count is not session_feedback.correction_count
    or signals.trivial_count is not session_feedback.trivial_count

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
        abs(bi_sessions.cost_usd - session_overview.cost_usd) > 0.001,
        bi_sessions.cost_usd is not session_overview.cost_usd
    )

union all

select 'bi_sessions', coalesce(changes.session_id, bi_sessions.session_id)
from bi_sessions
full join changes on changes.session_id = bi_sessions.session_id
where bi_sessions.changed_file_count is not coalesce(changes.changed_file_count, 0)
    or bi_sessions.lines_added is not coalesce(changes.lines_added, 0)
    or bi_sessions.lines_removed is not coalesce(changes.lines_removed, 0);
