-- One row per session, its agents included. Where several machines hold a session, take it from the one with most messages.
-- Key: session_id
-- Columns:
--   machine name
--   session_id id
--   project name
--   project_directory path
--   git_branch name
--   version word
--   entrypoint word
--   session_kind word
--   permission_mode word
--   main_model word
--   forked_from_session_id id
--   resumed_from_session_id id
--   message_count integer
--   line_count integer
--   prompt_count integer
--   denial_count integer
--   correction_count integer
--   interruption_count integer
--   tool_call_count integer
--   tool_error_count integer
--   agent_count integer
--   changed_file_count integer
--   lines_added integer
--   lines_removed integer
--   duration_s integer
--   is_empty boolean
--   is_background boolean
--   day date
--   local_day date
--   started_at timestamp
--   ended_at timestamp
--   title content
--   first_prompt content
--   start_cwd content
with machines as materialized (
    select * from _session_machines
)

select
    coalesce(
        machines.machine,
        (
            select min(_machines.machine)
            from files
            join _machines using (source_id)
            where files.session_id = sessions.session_id
        ),
        (select min(_machines.machine) from _machines)
    ) as machine,
    sessions.session_id,
    projects.name as project,
    projects.directory_name as project_directory,
    sessions.git_branch,
    sessions.version,
    sessions.entrypoint,
    sessions.session_kind,
    sessions.permission_mode,
    bi_sessions.main_model,
    sessions.forked_from_session_id,
    sessions.resumed_from_session_id,
    (select count(*) from messages where messages.session_id = sessions.session_id) as message_count,
    -- Lines of its files. Of two machines with equal messages, the one with more lines has more of it.
    (
        select coalesce(sum(files.line_count), 0)
        from files
        where files.session_id = sessions.session_id and files.is_current
    ) as line_count,
    bi_sessions.prompt_count,
    bi_sessions.denial_count,
    bi_sessions.correction_count,
    bi_sessions.interruption_count,
    bi_sessions.tool_call_count,
    bi_sessions.tool_error_count,
    bi_sessions.agent_count,
    bi_sessions.changed_file_count,
    bi_sessions.lines_added,
    bi_sessions.lines_removed,
    bi_sessions.duration_s,
    sessions.is_empty,
    coalesce(bi_sessions.is_background, 0) as is_background,
    substr(sessions.started_at, 1, 10) as day,
    date(sessions.started_at, (
        select utc_offset from time_zone_offsets where begins_at <= sessions.started_at order by begins_at desc limit 1
    )) as local_day,
    sessions.started_at,
    sessions.ended_at,
    sessions.title,
    sessions.first_prompt,
    sessions.start_cwd
from sessions
left join machines on machines.session_id = sessions.session_id
left join projects on projects.project_id = sessions.project_id
left join bi_sessions on bi_sessions.session_id = sessions.session_id
order by 1, sessions.session_id;
