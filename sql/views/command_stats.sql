create view command_stats as
-- One row per first word of a shell command.
with commands as (
    select
        trim(replace(replace(tool_uses.command, char(10), ' '), char(9), ' ')) || ' ' as command,
        coalesce(tool_results.outcome, 'pending') as outcome,
        coalesce(tool_results.duration_ms, tool_results.elapsed_ms) as duration_ms
    from tool_uses
    left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
    where tool_uses.name in ('Bash', 'PowerShell') and tool_uses.command is not null
)

select
    substr(command, 1, instr(command, ' ') - 1) as first_word,
    count(*) as call_count,
    sum(outcome = 'ok') as ok_count,
    sum(outcome in ('error', 'timeout')) as error_count,
    sum(outcome in ('user_rejected', 'permission_denied', 'hook_blocked')) as denied_count,
    round(1.0 * sum(outcome in ('error', 'timeout')) / nullif(sum(outcome in ('ok', 'error', 'timeout')), 0), 3)
        as error_rate,
    cast(avg(case when outcome in ('ok', 'error') then duration_ms end) as integer) as mean_duration_ms,
    sum(case when outcome in ('ok', 'error') then duration_ms end) as total_duration_ms
from commands
group by 1;
