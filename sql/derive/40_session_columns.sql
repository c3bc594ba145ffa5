-- Columns of sessions: first and last values of its messages, and the last record of each kind that sets one.
create temp table touched_projects as
select sessions.project_id -- a session may move to another project
from touched_sessions
cross join sessions using (session_id)
where sessions.project_id is not null;

create temp table event_values as
select
    session_id,
    max(case type when 'custom-title' then nullif(json_extract(payload_json, '$.customTitle'), '') end) as custom_title,
    max(case type when 'ai-title' then nullif(json_extract(payload_json, '$.aiTitle'), '') end) as ai_title,
    max(case type when 'agent-name' then json_extract(payload_json, '$.agentName') end) as agent_name,
    max(case type when 'agent-color' then json_extract(payload_json, '$.agentColor') end) as agent_color,
    max(case type when 'agent-setting' then json_extract(payload_json, '$.agentSetting') end) as agent_setting,
    max(case type when 'tag' then nullif(json_extract(payload_json, '$.tag'), '') end) as tag,
    max(case type when 'last-prompt' then json_extract(payload_json, '$.lastPrompt') end) as last_prompt,
    max(case type when 'mode' then json_extract(payload_json, '$.mode') end) as mode,
    max(case type when 'permission-mode' then json_extract(payload_json, '$.permissionMode') end) as permission_mode,
    max(case type when 'relocated' then json_extract(payload_json, '$.relocatedCwd') end) as relocated_cwd,
    max(case type when 'continued-in' then json_extract(payload_json, '$.continuedInSessionId') end) as continued_in,
    max(case type when 'worktree-state' then payload_json -> '$.worktreeSession' end) as worktree_json
from (
    select
        events.session_id, events.type, events.payload_json,
        row_number() over (
            partition by events.session_id, events.type
            order by
                coalesce(files.session_id = events.session_id, 0) desc, -- the session's own file first
                files.generation desc, files.path desc, sources.machine_id desc, sources.root_path desc,
                events.byte_offset desc
        ) as place
    from touched_sessions
    cross join events using (session_id)
    cross join files using (file_id)
    cross join sources using (source_id)
    where events.type in (
        'custom-title', 'ai-title', 'agent-name', 'agent-color', 'agent-setting', 'tag', 'last-prompt', 'mode',
        'permission-mode', 'worktree-state', 'relocated', 'continued-in'
    )
)
where place = 1
group by session_id;

-- A summary belongs to the session of its leaf message, no matter which file it is in.
create temp table session_summaries as
select session_id, summary
from (
    select
        leaf.session_id, json_extract(events.payload_json, '$.summary') as summary,
        row_number() over (
            partition by leaf.session_id
            order by
                leaf.sent_at desc, files.path desc, sources.machine_id desc, sources.root_path desc, files.generation desc,
                events.byte_offset desc
        ) as place
    from events
    cross join messages as leaf on leaf.uuid = events.message_uuid
    cross join files on files.file_id = events.file_id
    cross join sources using (source_id)
    where events.type = 'summary' and leaf.session_id in (select session_id from touched_sessions)
)
where place = 1;

-- Facts from session indexes and from other programs.
create temp table hints as
select session_id, custom_title, summary
from (
    select
        session_hints.session_id, session_hints.custom_title, session_hints.summary,
        row_number() over (
            partition by session_hints.session_id
            order by
                session_hints.custom_title is null, session_hints.modified_at desc, files.path, sources.machine_id,
                sources.root_path, session_hints.position
        ) as place
    from touched_sessions
    cross join session_hints using (session_id)
    cross join files using (file_id)
    cross join sources using (source_id)
    where files.is_current = 1
)
where place = 1;

-- The first prompt: text, or a command with arguments that Claude answers. Local commands have an output instead.
create temp table first_prompts as
with found as (
    select
        touched_sessions.session_id,
        (
            select messages.message_id
            from messages indexed by messages_by_prompt
            where messages.session_id = touched_sessions.session_id
                and messages.prompt_kind in (select prompt_kind from prompt_kinds where is_turn_start)
                and messages.agent_run_id is null
                and (
                    messages.prompt_kind <> 'slash_command'
                    or (
                        messages.type = 'user'
                        and messages.command_arguments is not null
                        and not exists (
                            select 1
                            from messages as output
                            where output.parent_message_id = messages.message_id
                                and output.session_id = messages.session_id
                                and output.machine_kind = 'command_output'
                        )
                    )
                )
                and (
                    messages.prompt_text is not null
                    or exists (
                        select 1
                        from content_blocks
                        where content_blocks.message_id = messages.message_id
                            and content_blocks.type = 'text'
                            and content_blocks.part_number = 0
                            and content_blocks.text is not null
                    )
                )
            order by messages.sent_at, messages.uuid
            limit 1
        ) as said_message_id
    from touched_sessions
)

select
    found.session_id,
    (select _message_texts.text from _message_texts where _message_texts.message_id = found.said_message_id) as said,
    -- For a session whose transcript was deleted.
    case when not exists (
        select 1
        from messages
        where messages.session_id = found.session_id and messages.agent_run_id is null
    ) then (
        select substr(history_prompts.display, 1, (select text_characters from _limits))
        from history_prompts
        where history_prompts.session_id = found.session_id
            and history_prompts.display not like '/%'
            and trim(substr(history_prompts.display, 1, 1000), ' ' || char(9) || char(10) || char(13)) <> ''
        order by history_prompts.prompted_at, history_prompts.display
        limit 1
    ) end as remembered,
    case when found.said_message_id is null then (
        select substr(_message_texts.text, instr(_message_texts.text, char(10) || '# ') + 3)
        from messages indexed by messages_by_prompt
        cross join _message_texts using (message_id)
        where messages.session_id = found.session_id
            and messages.prompt_kind = 'machine'
            and messages.machine_kind = 'plan_handoff'
            and messages.agent_run_id is null
            and instr(_message_texts.text, char(10) || '# ') > 0
        order by messages.sent_at, messages.uuid
        limit 1
    ) end as plan,
    case when found.said_message_id is null then (
        select messages.prompt_text
        from messages indexed by messages_by_prompt
        where messages.session_id = found.session_id
            and messages.prompt_kind in ('slash_command', 'bash_command')
            and messages.agent_run_id is null
            and messages.prompt_text is not null
        order by messages.sent_at, messages.uuid
        limit 1
    ) end as command
from found;

create unique index temp.first_prompts_by_session on first_prompts (session_id);

-- If a session has no value yet and no new or changed message has one, its messages are not read. The loader records which
-- values new messages have; this does it for messages that changed after loading.
update touched_sessions
set
    has_git_branch = max(touched_sessions.has_git_branch, changed.has_git_branch),
    has_version = max(touched_sessions.has_version, changed.has_version),
    has_entrypoint = max(touched_sessions.has_entrypoint, changed.has_entrypoint),
    has_slug = max(touched_sessions.has_slug, changed.has_slug)
from (
    select
        messages.session_id,
        max(messages.git_branch is not null) as has_git_branch,
        max(messages.version is not null) as has_version,
        max(messages.entrypoint is not null) as has_entrypoint,
        max(messages.slug is not null) as has_slug
    from touched_messages
    cross join messages using (message_id)
    group by messages.session_id
) as changed
where changed.session_id = touched_sessions.session_id;

update touched_sessions
set has_guests = 1
where session_id in (
    select files.session_id
    from touched_messages
    cross join messages using (message_id)
    cross join files using (file_id)
    where files.kind = 'session'
        and files.session_id <> messages.session_id
);

update sessions
set
    custom_title = coalesce(event_values.custom_title, hints.custom_title),
    ai_title = event_values.ai_title,
    summary = coalesce(session_summaries.summary, hints.summary),
    agent_name = event_values.agent_name,
    agent_color = event_values.agent_color,
    agent_setting = event_values.agent_setting,
    tag = event_values.tag,
    last_prompt = event_values.last_prompt,
    mode = event_values.mode,
    permission_mode = coalesce(
        event_values.permission_mode,
        (
            select permission_mode
            from messages indexed by messages_with_mode
            where messages.session_id = sessions.session_id and permission_mode is not null
            order by sent_at desc, uuid desc
            limit 1
        )
    ),
    relocated_cwd = event_values.relocated_cwd,
    worktree_path = json_extract(event_values.worktree_json, '$.worktreePath'),
    worktree_name = json_extract(event_values.worktree_json, '$.worktreeName'),
    worktree_branch = json_extract(event_values.worktree_json, '$.worktreeBranch'),
    original_cwd = json_extract(event_values.worktree_json, '$.originalCwd'),
    continued_in_session_id = (
        select target.session_id from sessions as target where target.session_id = event_values.continued_in
    ),
    started_at = (select min(sent_at) from messages where messages.session_id = sessions.session_id),
    ended_at = (select max(sent_at) from messages where messages.session_id = sessions.session_id),
    version = case
        when sessions.version is not null or touched_sessions.has_version then (
            select version
            from messages
            where messages.session_id = sessions.session_id and version is not null
            order by sent_at desc, uuid desc
            limit 1
        )
    end,
    git_branch = case
        when sessions.git_branch is not null or touched_sessions.has_git_branch then (
            select git_branch
            from messages
            where messages.session_id = sessions.session_id and git_branch is not null
            order by sent_at desc, uuid desc
            limit 1
        )
    end,
    slug = case
        when sessions.slug is not null or touched_sessions.has_slug then (
            select slug
            from messages
            where messages.session_id = sessions.session_id and slug is not null
            order by sent_at desc, uuid desc
            limit 1
        )
    end,
    entrypoint = case
        when sessions.entrypoint is not null or touched_sessions.has_entrypoint then (
            select entrypoint
            from messages
            where messages.session_id = sessions.session_id and entrypoint is not null
            order by sent_at desc, uuid desc
            limit 1
        )
    end,
    session_kind = (
        select session_kind
        from messages indexed by messages_with_session_kind
        where messages.session_id = sessions.session_id and session_kind is not null
        order by sent_at desc, uuid desc
        limit 1
    ),
    team_name = (
        select team_name
        from messages indexed by messages_with_team
        where messages.session_id = sessions.session_id and team_name is not null
        order by sent_at desc, uuid desc
        limit 1
    ),
    start_cwd = coalesce(
        (
            select cwd
            from messages
            where messages.session_id = sessions.session_id and cwd is not null and agent_run_id is null
            order by sent_at, uuid
            limit 1
        ),
        (
            select cwd
            from messages
            where messages.session_id = sessions.session_id and cwd is not null
            order by sent_at, uuid
            limit 1
        )
    ),
    first_prompt = coalesce(first_prompts.said, first_prompts.remembered, first_prompts.command),
    forked_from_session_id = (
        select target.session_id
        from (
            select messages.session_id, messages.forked_from_session_id, messages.sent_at
            from messages
            where messages.forked_from_session_id is not null
            union all
            select message_copies.session_id, message_copies.forked_from_session_id, message_copies.sent_at
            from message_copies
            where message_copies.forked_from_session_id is not null
        ) as forked
        join sessions as target on target.session_id = forked.forked_from_session_id
        where forked.session_id = sessions.session_id and forked.forked_from_session_id <> sessions.session_id
        order by forked.sent_at, forked.forked_from_session_id
        limit 1
    ),
    plan_session_id = (
        select target.session_id
        from messages
        join sessions as target on target.session_id = messages.plan_session_id
        where +messages.session_id = sessions.session_id and messages.plan_session_id is not null -- few messages have one
        order by messages.sent_at, messages.uuid
        limit 1
    ),
    resumed_from_session_id = (
        -- In old versions the file of a resumed session starts with lines of the earlier session.
        select earlier.session_id
        from (
            select messages.session_id, files.path, messages.byte_offset
            from files
            join messages using (file_id)
            where files.session_id = sessions.session_id
                and files.kind = 'session'
                and messages.session_id <> sessions.session_id
                and (sessions.resumed_from_session_id is not null or touched_sessions.has_guests)
            union all
            select message_copies.session_id, files.path, message_copies.byte_offset
            from files
            join message_copies using (file_id)
            where files.session_id = sessions.session_id
                and files.kind = 'session'
                and message_copies.session_id <> sessions.session_id
        ) as earlier
        order by earlier.path, earlier.byte_offset, earlier.session_id
        limit 1
    ),
    project_id = coalesce(
        (
            select files.project_id
            from files
            where files.session_id = sessions.session_id and files.kind = 'session'
            order by files.path, files.generation
            limit 1
        ),
        (
            select files.project_id
            from messages
            join files using (file_id)
            where messages.session_id = sessions.session_id and files.project_id is not null
            order by messages.sent_at, messages.uuid
            limit 1
        ),
        (
            select files.project_id
            from events
            join files using (file_id)
            where events.session_id = sessions.session_id and files.project_id is not null
            order by files.path
            limit 1
        )
    )
from touched_sessions
left join event_values using (session_id)
left join session_summaries using (session_id)
left join hints using (session_id)
left join first_prompts using (session_id)
where sessions.session_id = touched_sessions.session_id;

-- A session without a title is named after the first line of its first prompt, else after the plan it carries out, cut after 120
-- characters. A slash command alone is no title.
update sessions
set title = coalesce(
    sessions.custom_title, sessions.ai_title, sessions.summary,
    nullif(iif(length(told.line) > 120, rtrim(substr(told.line, 1, 119)) || '…', told.line), ''),
    'session ' || substr(sessions.session_id, 1, 8) || coalesce(' (' || substr(first_prompts.command, 1, 60) || ')', '')
)
from (
    select session_id, rtrim(substr(text, 1, instr(text || char(10), char(10)) - 1), ' ' || char(13)) as line
    from (
        select session_id, trim(coalesce(said, remembered, plan), ' ' || char(9) || char(10) || char(13)) as text
        from first_prompts
    )
) as told
join first_prompts using (session_id)
where sessions.session_id = told.session_id;

-- A session whose lines are all copies has responses, but no messages.
update sessions
set is_empty = not exists (
        select 1
        from messages
        where messages.session_id = sessions.session_id and messages.model is not '<synthetic>'
    )
    and not exists (select 1 from api_responses where api_responses.session_id = sessions.session_id)
where session_id in (select session_id from touched_sessions);

drop table first_prompts;
drop table hints;
drop table session_summaries;
drop table event_values;
