create view command_permissions as
-- One row per project, machine, tool and beginning of a command: how often it was called and denied, and the rule that would allow
-- it. Only commands of one program with its arguments, and only calls in modes in which Claude Code asks.
with calls as materialized ( -- in rowid order, because tool_results has long rows
    select
        tool_calls.name as tool_name,
        tool_calls.name in ('Bash', 'PowerShell') as is_command,
        -- `2>&1` at its end changes nothing.
        trim(case when tool_calls.command like '% 2>&1' then substr(tool_calls.command, 1, length(tool_calls.command) - 5) else tool_calls.command end)
            as command,
        tool_calls.outcome in ('user_rejected', 'permission_denied', 'hook_blocked') as is_denied,
        tool_calls.session_id,
        tool_calls.machine,
        tool_calls.called_date,
        tool_calls.called_at
    from tool_calls
),

asked as (
    select *
    from calls
    where coalesce(
            (
                select messages.permission_mode
                from messages indexed by messages_with_mode
                where messages.session_id = calls.session_id
                    and messages.sent_at <= calls.called_at
                    and messages.permission_mode is not null
                order by messages.sent_at desc, messages.permission_mode
                limit 1
            ),
            'default'
        ) not in ('bypassPermissions', 'auto', 'dontAsk')
),

first_words as (
    select
        asked.*,
        substr(command || ' ', 1, instr(command || ' ', ' ') - 1) as first_word,
        ltrim(substr(command || ' ', instr(command || ' ', ' '))) as rest
    from asked
    where not is_command
        -- Not what joins commands, redirects, substitutes or begins with an assignment or a path.
        or (command not glob '*[;&|<>`$(){}' || char(10) || ']*' and command glob '[a-zA-Z]*')
),

second_words as (
    select
        first_words.*,
        substr(rest, 1, instr(rest || ' ', ' ') - 1) as second_word,
        ltrim(substr(rest, instr(rest || ' ', ' '))) as last_rest
    from first_words
    where not is_command or first_word not glob '*[^-+._a-zA-Z0-9]*'
),

beginnings as (
    select
        second_words.*,
        rtrim(first_word || ' ' || second_word) as two_words,
        rtrim(first_word || ' ' || second_word || ' ' || substr(last_rest, 1, instr(last_rest || ' ', ' ') - 1)) as three_words
    from second_words
),

usable as (
    select command_pattern, verdict from command_patterns where is_used
),

-- The longest known pattern, else two words.
matched as (
    select
        beginnings.*,
        coalesce(three.command_pattern, two.command_pattern, one.command_pattern) as known_pattern,
        coalesce(three.verdict, two.verdict, one.verdict) as verdict
    from beginnings
    left join usable as three
        on three.command_pattern = beginnings.three_words and (three.verdict <> 'exact' or three.command_pattern = beginnings.command)
    left join usable as two
        on two.command_pattern = beginnings.two_words and (two.verdict <> 'exact' or two.command_pattern = beginnings.command)
    left join usable as one
        on one.command_pattern = beginnings.first_word and (one.verdict <> 'exact' or one.command_pattern = beginnings.command)
),

grouped as (
    select
        sessions.project_id,
        matched.machine,
        matched.tool_name,
        case when matched.is_command then coalesce(matched.known_pattern, matched.two_words) end as command_pattern,
        max(matched.verdict) as verdict,
        count(*) as call_count,
        count(distinct matched.session_id) as session_count,
        sum(matched.is_denied) as denied_count,
        min(matched.called_date) as first_called_date,
        max(matched.called_date) as last_called_date,
        max(matched.called_at) as last_called_at
    from matched
    left join sessions on sessions.session_id = matched.session_id
    group by 1, 2, 3, 4
)

select
    projects.name as project,
    grouped.machine,
    grouped.tool_name,
    grouped.command_pattern, -- NULL for a tool that runs no commands
    grouped.verdict, -- of command_patterns
    case
        when grouped.tool_name = 'Bash' and grouped.denied_count = 0 then
            case grouped.verdict
                when 'any arguments' then 'Bash(' || grouped.command_pattern || ' *)'
                when 'exact' then 'Bash(' || grouped.command_pattern || ')'
            end
    end as rule, -- for permissions.allow in Claude Code's settings; NULL if it was denied, or is not known to be harmless
    grouped.call_count,
    grouped.session_count,
    grouped.denied_count, -- by the person, a rule or a hook
    grouped.first_called_date, -- local
    grouped.last_called_date, -- local
    grouped.last_called_at
from grouped
left join projects on projects.project_id = grouped.project_id;
