create view denial_stats as
-- One row per tool, for commands their first two words, and machine: how often the person or a rule denied it. What is never
-- denied could be allowed.
with calls as materialized ( -- in rowid order, because tool_results has long rows
    select
        name as tool_name,
        -- The command on one line, to split it into words.
        trim(replace(replace(command, char(10), ' '), char(9), ' ')) || '  ' as command,
        machine,
        outcome,
        outcome_group,
        denial_reason,
        called_at
    from tool_calls
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
        machine,
        outcome,
        outcome_group,
        denial_reason,
        called_at
    from calls
)

select
    tool_name,
    command_prefix,
    machine,
    count(*) as call_count,
    sum(outcome = 'user_rejected') as user_rejected_count,
    sum(outcome = 'permission_denied') as permission_denied_count,
    sum(outcome = 'hook_blocked') as hook_blocked_count,
    sum(denial_reason is not null) as reason_count,
    round(1.0 * sum(outcome_group = 'denied') / count(*), 3) as denial_rate,
    max(case when outcome = 'user_rejected' then denial_reason end) as example_reason,
    max(case when outcome_group = 'denied' then called_at end) as last_denied_at
from prefixed
group by tool_name, command_prefix, machine;
