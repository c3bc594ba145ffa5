-- Commands that were never denied
-- How to read: candidates for a rule that allows them; what runs other code, such as a shell or python3 -c, is left out.
-- Group: feedback
-- :limit number - rows to show; 20 without it
-- Bar: call_count
with too_powerful (program) as (
    -- Interpreters, shells, and programs that start another one, or that delete or send: to allow one is to allow much more.
    values ('bash'), ('sh'), ('zsh'), ('fish'), ('dash'), ('ksh'), ('pwsh'), ('powershell'), ('cmd'),
        ('python'), ('python2'), ('python3'), ('py'), ('node'), ('deno'), ('bun'), ('ruby'), ('perl'), ('php'), ('lua'), ('R'),
        ('Rscript'), ('osascript'), ('awk'), ('gawk'), ('tclsh'), ('java'), ('psql'), ('sqlite3'), ('mysql'),
        ('eval'), ('exec'), ('source'), ('.'), ('sudo'), ('doas'), ('su'), ('env'), ('xargs'), ('parallel'), ('find'), ('ssh'),
        ('docker'), ('podman'), ('kubectl'), ('npx'), ('pnpx'), ('bunx'), ('uvx'), ('pipx'), ('nohup'), ('time'), ('timeout'),
        ('nice'), ('watch'), ('screen'), ('tmux'), ('cd'), ('pushd'), ('for'), ('while'), ('until'), ('if'), ('case'), ('curl'),
        ('wget'), ('rm'), ('dd'), ('chmod'), ('chown'), ('kill'), ('pkill')
),

prefixes as (
    select
        tool_name,
        command_prefix,
        sum(call_count) as call_count,
        substr(command_prefix || ' ', 1, instr(command_prefix || ' ', ' ') - 1) as program
    from denial_stats
    group by tool_name, command_prefix
    having sum(user_rejected_count + permission_denied_count + hook_blocked_count) = 0
)

select tool_name, command_prefix, call_count
from prefixes
where (coalesce(command_prefix, '') = '' and tool_name not in ('Bash', 'PowerShell'))
    or (
        -- A path, an assignment or shell syntax is not the name of one program.
        program not glob '*[^-+._a-zA-Z0-9]*'
        and command_prefix not glob '*[*;&|<>`$()]*'
        and program not in (select too_powerful.program from too_powerful)
    )
order by call_count desc, tool_name, command_prefix
limit coalesce(nullif(:limit, ''), 20);
