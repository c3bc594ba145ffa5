create view prompts as
-- One row per input from the person: prompts, commands, replies to questions, reasons for a rejection, and text typed while
-- Claude worked. Truncated to 1,000,000 characters.
with said as (
    -- `indexed by` makes SQLite use the small indexes on messages of one kind.
    select
        messages.session_id,
        messages.agent_run_id,
        messages.message_id,
        null as event_id,
        null as history_prompt_id,
        null as tool_use_id,
        messages.prompt_kind as kind,
        case
            when messages.type = 'attachment' then 'queued'
            when messages.type = 'system' then 'local_command'
            when messages.prompt_source = 'queued' then 'queued'
            else 'user'
        end as delivery,
        (select _message_texts.text from _message_texts where _message_texts.message_id = messages.message_id) as text,
        null as question,
        messages.command_name,
        messages.command_arguments,
        messages.permission_mode,
        messages.git_branch,
        messages.version,
        messages.file_id,
        messages.line_number,
        messages.sent_at as said_at
    from messages indexed by messages_by_prompt
    where messages.prompt_kind in (select prompt_kind from prompt_kinds where is_prompt)

    union all

    -- Typed while a tool ran and delivered with its result (2.1.19 to 2.1.37).
    select
        messages.session_id, messages.agent_run_id, messages.message_id, null, null, null, content_blocks.prompt_kind, 'beside_result',
        substr(content_blocks.text, 1, (select text_characters from _limits)), null, null, null, messages.permission_mode,
        messages.git_branch,
        messages.version, messages.file_id, messages.line_number, messages.sent_at
    from content_blocks indexed by content_blocks_beside_results
    cross join messages using (message_id)
    where messages.prompt_kind = 'tool_result'
        and content_blocks.prompt_kind in (select prompt_kind from prompt_kinds where is_typed)

    union all

    -- Replies to questions.
    select
        question_replies.session_id, question_replies.agent_run_id, question_replies.message_id, null, null,
        question_replies.tool_use_id, 'answer', 'answer', question_replies.reply, question_replies.question, null, null,
        messages.permission_mode, messages.git_branch, messages.version, messages.file_id, messages.line_number, messages.sent_at
    from question_replies
    cross join messages using (message_id)
    where question_replies.reply is not null

    union all

    -- Reasons for a rejection.
    select
        messages.session_id, messages.agent_run_id, messages.message_id, null, null, tool_results.tool_use_id, 'rejection',
        'rejection', tool_results.denial_reason, null, null, null, messages.permission_mode, messages.git_branch,
        messages.version, messages.file_id, messages.line_number, messages.sent_at
    from tool_results indexed by tool_results_with_reason
    cross join messages using (message_id)
    where tool_results.denial_reason is not null

    union all

    -- Typed while Claude worked, where the queue is the only trace.
    select
        session_id, null, null, event_id, null, null, kind, 'queue_only', text, null, command_name, command_arguments, null, null,
        null, file_id, line_number, said_at
    from queued_prompts

    union all

    -- Prompts known only from history.jsonl: the main transcript of their session is gone. If a home was copied, several files have
    -- the same line.
    select
        lines.session_id, null, null, null, lines.history_prompt_id, null, lines.prompt_kind, 'history',
        substr(lines.display, 1, (select text_characters from _limits)), null, lines.command_name, lines.command_arguments, null,
        null, null, lines.file_id, lines.line_number, lines.prompted_at
    from history_prompts as lines
    where lines.match_kind = 'swept_or_draft'
        and lines.prompt_kind in (select prompt_kind from prompt_kinds where is_typed)
        and not exists (
            select 1
            from history_prompts as copies indexed by history_prompts_without_transcript
            cross join files as copy_files on copy_files.file_id = copies.file_id
            cross join sources as copy_sources on copy_sources.source_id = copy_files.source_id
            cross join files on files.file_id = lines.file_id
            cross join sources on sources.source_id = files.source_id
            where copies.match_kind = 'swept_or_draft'
                and copies.session_id is lines.session_id
                and copies.prompted_at is lines.prompted_at
                and copies.display is lines.display
                and (copy_sources.machine_id, copy_sources.root_path, copy_files.path, copy_files.generation, copies.byte_offset)
                    < (sources.machine_id, sources.root_path, files.path, files.generation, lines.byte_offset)
        )
)

select
    said.session_id,
    coalesce(
        (
            select projects.name
            from sessions
            join projects using (project_id)
            where sessions.session_id = said.session_id
        ),
        (
            select min(projects.name)
            from history_prompts
            join projects on projects.path = history_prompts.project_path
            where history_prompts.history_prompt_id = said.history_prompt_id
        )
    ) as project,
    said.agent_run_id,
    said.message_id,
    said.event_id,
    said.history_prompt_id,
    said.tool_use_id,
    said.kind,
    said.delivery,
    said.text,
    said.question,
    said.command_name,
    said.command_arguments,
    said.permission_mode,
    said.git_branch,
    said.version,
    said.file_id,
    said.line_number,
    date(said.said_at, (
        select utc_offset from time_zone_offsets where begins_at <= said.said_at order by begins_at desc limit 1
    )) as said_date, -- local
    said.said_at
from said;
