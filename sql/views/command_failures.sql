create view command_failures as
-- One row per project, machine and command that failed in two sessions or more, each time with the same error, and never worked.
-- `2>&1` at its end is not part of it.
with calls as materialized ( -- in rowid order, because tool_results has long rows
    select
        tool_use_id,
        message_id,
        session_id,
        machine,
        rtrim(case when command like '% 2>&1' then substr(command, 1, length(command) - 5) else command end) as command,
        outcome_group,
        substr(result, 1, 100) as beginning, -- of the error
        run_ms,
        called_date,
        called_at
    from tool_calls
    where name in ('Bash', 'PowerShell') and command is not null and outcome_group in ('ok', 'error', 'other')
),

commands as (
    select
        sessions.project_id,
        calls.machine,
        calls.command,
        count(*) as failed_count,
        count(distinct calls.session_id) as session_count,
        sum(calls.run_ms) as total_duration_ms,
        min(calls.called_date) as first_failed_date,
        max(calls.called_date) as last_failed_date,
        max(calls.called_at) as last_failed_at
    from calls
    left join sessions on sessions.session_id = calls.session_id
    group by sessions.project_id, calls.machine, calls.command
    having count(distinct calls.session_id) >= 2
        and sum(calls.outcome_group <> 'error') = 0
        and count(distinct calls.beginning) = 1
),

-- The last failure, as an example.
examples as (
    select
        commands.*,
        (
            select max(calls.tool_use_id)
            from calls
            join sessions on sessions.session_id = calls.session_id
            where calls.called_at = commands.last_failed_at
                and calls.command = commands.command
                and calls.machine is commands.machine
                and sessions.project_id is commands.project_id
        ) as tool_use_id
    from commands
)

select
    projects.name as project,
    examples.machine,
    examples.command,
    examples.failed_count,
    examples.session_count,
    examples.total_duration_ms,
    (
        -- Of the responses that made no other call.
        select round(sum(response_costs.cost_usd), 6)
        from calls
        join messages on messages.message_id = calls.message_id
        join sessions on sessions.session_id = calls.session_id
        join response_costs on response_costs.api_response_id = messages.api_response_id
        where calls.command = examples.command
            and calls.machine is examples.machine
            and sessions.project_id is examples.project_id
            and (
                select count(*)
                from messages as lines
                join tool_uses on tool_uses.message_id = lines.message_id
                where lines.api_response_id = messages.api_response_id
            ) = 1
    ) as cost_usd,
    substr(tool_results.content, 1, 1000) as error, -- of the last failure
    examples.tool_use_id, -- the last failure, and the line of the call
    messages.message_id,
    messages.session_id,
    messages.file_id,
    messages.line_number,
    examples.first_failed_date, -- local
    examples.last_failed_date, -- local
    examples.last_failed_at
from examples
left join projects on projects.project_id = examples.project_id
join tool_uses on tool_uses.tool_use_id = examples.tool_use_id
join messages on messages.message_id = tool_uses.message_id
left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id;
