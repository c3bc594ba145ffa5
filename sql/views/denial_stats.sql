create view denial_stats as
-- One row per tool and, for commands, their first two words: how often the person said no, or a rule did. Those that are
-- never denied could be allowed; those that are often denied need another way.
with calls as (
    select
        tool_uses.name as tool_name,
        -- The command on one line, for its words.
        trim(replace(replace(tool_uses.command, char(10), ' '), char(9), ' ')) || '  ' as command,
        tool_results.outcome,
        tool_results.denial_reason,
        tool_uses.message_id
    from tool_uses not indexed -- in the order of the rows: those of answers are long
    left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
),

prefixed as (
    select
        tool_name,
        rtrim(
            substr(command, 1, instr(command, ' '))
            || substr(
                ltrim(substr(command, instr(command, ' '))) || ' ', 1,
                instr(ltrim(substr(command, instr(command, ' '))) || ' ', ' ')
            )
        ) as command_prefix,
        outcome,
        denial_reason,
        -- Few calls are denied: only their messages are read.
        case
            when outcome in ('user_rejected', 'permission_denied', 'hook_blocked')
                then (select messages.sent_at from messages where messages.message_id = calls.message_id)
        end as denied_at
    from calls
)

select
    tool_name,
    command_prefix,
    count(*) as call_count,
    sum(outcome is 'user_rejected') as user_rejected_count,
    sum(outcome is 'permission_denied') as permission_denied_count,
    sum(outcome is 'hook_blocked') as hook_blocked_count,
    sum(denial_reason is not null) as reason_count,
    round(1.0 * sum(coalesce(outcome in ('user_rejected', 'permission_denied', 'hook_blocked'), 0)) / count(*), 3)
        as denial_rate,
    max(case when outcome = 'user_rejected' then denial_reason end) as example_reason,
    max(denied_at) as last_denied_at
from prefixed
group by tool_name, command_prefix;
