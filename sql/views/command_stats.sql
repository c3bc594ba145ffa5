create view command_stats as
-- One row per first word of a shell command and machine.
with commands as (
    select
        trim(replace(replace(command, char(10), ' '), char(9), ' ')) || ' ' as command,
        machine,
        outcome_group,
        run_ms
    from tool_calls
    where name in ('Bash', 'PowerShell') and command is not null
)

select
    substr(command, 1, instr(command, ' ') - 1) as first_word,
    machine,
    count(*) as call_count,
    sum(outcome_group = 'ok') as ok_count,
    sum(outcome_group = 'error') as error_count,
    sum(outcome_group = 'denied') as denied_count,
    round(1.0 * sum(outcome_group = 'error') / nullif(sum(outcome_group in ('ok', 'error')), 0), 3) as error_rate,
    cast(avg(run_ms) as integer) as mean_duration_ms,
    sum(run_ms) as total_duration_ms
from commands
group by 1, machine;
