create view session_activity as
-- One row per session that is not empty, its agents included: counts of prompts, calls and changes. Messages and calls have long rows, so
-- they are counted in indexes and in the BI tables.
select
    sessions.session_id,
    (select count(*) from messages where messages.session_id = sessions.session_id) as message_count,
    (
        select count(*)
        from messages indexed by messages_by_prompt
        where messages.session_id = sessions.session_id
            and messages.prompt_kind in (select prompt_kind from prompt_kinds where is_prompt)
            and messages.agent_run_id is null
    ) as prompt_count, -- everything the person said, by any means
    (
        select count(*)
        from bi_feedback
        where bi_feedback.session_id = sessions.session_id
            and bi_feedback.kind in ('denial', 'plan_rejected')
    ) as denial_count, -- rejected plans included
    (
        select count(*)
        from bi_feedback
        where bi_feedback.session_id = sessions.session_id
            and bi_feedback.kind = 'correction'
    ) as correction_count,
    (
        select count(*)
        from bi_feedback
        where bi_feedback.session_id = sessions.session_id
            and bi_feedback.kind = 'interruption'
    ) as interruption_count,
    (
        select coalesce(sum(bi_tools.call_count), 0)
        from bi_tools
        where bi_tools.session_id = sessions.session_id
    ) as tool_call_count,
    (
        select coalesce(sum(bi_tools.error_count), 0)
        from bi_tools
        where bi_tools.session_id = sessions.session_id
    ) as tool_error_count,
    (
        select count(*)
        from agents
        where agents.session_id = sessions.session_id
            and agents.internal_kind is null
    ) as agent_count,
    (
        select count(distinct _file_change_parts.file_path)
        from _file_change_parts
        where _file_change_parts.session_id = sessions.session_id
    ) as changed_file_count,
    (
        select coalesce(sum(_file_change_parts.lines_added), 0)
        from _file_change_parts
        where _file_change_parts.session_id = sessions.session_id
    ) as lines_added,
    (
        select coalesce(sum(_file_change_parts.lines_removed), 0)
        from _file_change_parts
        where _file_change_parts.session_id = sessions.session_id
    ) as lines_removed,
    unixepoch(sessions.ended_at) - unixepoch(sessions.started_at) as duration_s -- from the first to the last message
from sessions
where not sessions.is_empty;
