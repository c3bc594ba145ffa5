-- What a session is known by: first and last values of its messages, and the last record of each kind that sets one.
create temp table touched_projects as
select sessions.project_id -- a session may leave a project for another
from touched_sessions
cross join sessions using (session_id)
where sessions.project_id is not null;

create temp table last_events as
select session_id, type, payload_json
from (
    select
        events.session_id, events.type, events.payload_json,
        row_number() over (
            partition by events.session_id, events.type
            order by
                coalesce(files.session_id = events.session_id, 0) desc, -- in the session's own file before others
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
where place = 1;

create index temp.last_events_by_session on last_events (session_id, type);

-- A summary belongs to the session that holds its leaf, in whatever file it was written.
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

create index temp.session_summaries_by_session on session_summaries (session_id);

-- What an index or another program says of a session.
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

create index temp.hints_by_session on hints (session_id);

-- What messages that are new, or changed, say. Where a session has no value yet, no other message of it can have one: they
-- need not be read again. Of a new session all messages are new.
create temp table new_values as
select session_id, has_git_branch, has_version, has_entrypoint, has_slug
from told_sessions -- where there are some, they are all that there are
union all
select session_id, 1, 1, 1, 1
from new_sessions
where not exists (select 1 from told_sessions)
union all
select touched_sessions.session_id, 1, 1, 1, 1 -- also of one that only events have named so far
from counted_rows
cross join touched_sessions
where counted_rows.last_message_id = 0
    and not exists (select 1 from told_sessions)
union all
select
    messages.session_id, max(messages.git_branch is not null), max(messages.version is not null),
    max(messages.entrypoint is not null), max(messages.slug is not null)
from counted_rows
cross join messages not indexed
where counted_rows.last_message_id > 0
    and messages.message_id > counted_rows.last_message_id
    and messages.session_id is not null
group by messages.session_id
union all
select
    messages.session_id, messages.git_branch is not null, messages.version is not null, messages.entrypoint is not null,
    messages.slug is not null
from touched_messages
cross join messages using (message_id)
where messages.session_id is not null;

create index temp.new_values_by_session on new_values (session_id);

-- Sessions with messages of others in their files.
create temp table new_guests as
select session_id
from told_sessions
where has_guests
union
select files.session_id
from (select last_message_id from counted_rows where not exists (select 1 from told_sessions)) as untold
cross join messages not indexed
cross join files using (file_id)
where messages.message_id > untold.last_message_id
    and files.kind = 'session'
    and files.session_id <> messages.session_id
union
select files.session_id
from touched_messages
cross join messages using (message_id)
cross join files using (file_id)
where files.kind = 'session'
    and files.session_id <> messages.session_id
union
select files.session_id -- the file may have been there before its session
from counted_rows
cross join new_sessions
cross join files on files.session_id = new_sessions.session_id
cross join messages on messages.file_id = files.file_id
where counted_rows.last_message_id > 0
    and files.kind = 'session'
    and files.session_id <> messages.session_id;

update sessions
set
    custom_title = coalesce(
        (
            select nullif(json_extract(payload_json, '$.customTitle'), '')
            from last_events
            where last_events.session_id = sessions.session_id and type = 'custom-title'
        ),
        (select custom_title from hints where hints.session_id = sessions.session_id)
    ),
    ai_title = (
        select nullif(json_extract(payload_json, '$.aiTitle'), '')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'ai-title'
    ),
    summary = coalesce(
        (select summary from session_summaries where session_summaries.session_id = sessions.session_id),
        (select summary from hints where hints.session_id = sessions.session_id)
    ),
    agent_name = (
        select json_extract(payload_json, '$.agentName')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'agent-name'
    ),
    agent_color = (
        select json_extract(payload_json, '$.agentColor')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'agent-color'
    ),
    agent_setting = (
        select json_extract(payload_json, '$.agentSetting')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'agent-setting'
    ),
    tag = (
        select nullif(json_extract(payload_json, '$.tag'), '')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'tag'
    ),
    last_prompt = (
        select json_extract(payload_json, '$.lastPrompt')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'last-prompt'
    ),
    mode = (
        select json_extract(payload_json, '$.mode')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'mode'
    ),
    permission_mode = coalesce(
        (
            select json_extract(payload_json, '$.permissionMode')
            from last_events
            where last_events.session_id = sessions.session_id and type = 'permission-mode'
        ),
        (
            select permission_mode
            from messages indexed by messages_with_mode
            where messages.session_id = sessions.session_id and permission_mode is not null
            order by sent_at desc, uuid desc
            limit 1
        )
    ),
    relocated_cwd = (
        select json_extract(payload_json, '$.relocatedCwd')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'relocated'
    ),
    worktree_path = (
        select json_extract(payload_json, '$.worktreeSession.worktreePath')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'worktree-state'
    ),
    worktree_name = (
        select json_extract(payload_json, '$.worktreeSession.worktreeName')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'worktree-state'
    ),
    worktree_branch = (
        select json_extract(payload_json, '$.worktreeSession.worktreeBranch')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'worktree-state'
    ),
    original_cwd = (
        select json_extract(payload_json, '$.worktreeSession.originalCwd')
        from last_events
        where last_events.session_id = sessions.session_id and type = 'worktree-state'
    ),
    continued_in_session_id = (
        select target.session_id
        from last_events
        join sessions as target
            on target.session_id = json_extract(last_events.payload_json, '$.continuedInSessionId')
        where last_events.session_id = sessions.session_id and last_events.type = 'continued-in'
    )
where session_id in (select session_id from touched_sessions);

update sessions
set
    started_at = (select min(sent_at) from messages where messages.session_id = sessions.session_id),
    ended_at = (select max(sent_at) from messages where messages.session_id = sessions.session_id),
    version = case
        when sessions.version is not null
            or exists (select 1 from new_values where new_values.session_id = sessions.session_id and has_version)
            then (
                select version
                from messages
                where messages.session_id = sessions.session_id and version is not null
                order by sent_at desc, uuid desc
                limit 1
            )
    end,
    git_branch = case
        when sessions.git_branch is not null
            or exists (select 1 from new_values where new_values.session_id = sessions.session_id and has_git_branch)
            then (
                select git_branch
                from messages
                where messages.session_id = sessions.session_id and git_branch is not null
                order by sent_at desc, uuid desc
                limit 1
            )
    end,
    slug = case
        when sessions.slug is not null
            or exists (select 1 from new_values where new_values.session_id = sessions.session_id and has_slug)
            then (
                select slug
                from messages
                where messages.session_id = sessions.session_id and slug is not null
                order by sent_at desc, uuid desc
                limit 1
            )
    end,
    entrypoint = case
        when sessions.entrypoint is not null
            or exists (select 1 from new_values where new_values.session_id = sessions.session_id and has_entrypoint)
            then (
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
            where messages.session_id = sessions.session_id and cwd is not null and agent_key is null
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
    first_prompt = (
        select substr(coalesce(messages.prompt_text, content_blocks.text), 1, 1000000)
        from messages
        left join content_blocks
            on content_blocks.message_id = messages.message_id
            and content_blocks.type = 'text'
            and content_blocks.part_number = 0
        where messages.session_id = sessions.session_id
            and messages.prompt_kind in (select prompt_kind from prompt_kinds where is_prompt)
            and messages.prompt_kind <> 'memory_note'
            and messages.agent_key is null
            and (messages.prompt_text is not null or content_blocks.text is not null)
        order by messages.sent_at, messages.uuid, content_blocks.position
        limit 1
    ),
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
        where +messages.session_id = sessions.session_id and messages.plan_session_id is not null -- few have one
        order by messages.sent_at, messages.uuid
        limit 1
    ),
    resumed_from_session_id = (
        -- The file of a session that was resumed in old versions begins with lines of the session before.
        select earlier.session_id
        from (
            select messages.session_id, files.path, messages.byte_offset
            from files
            join messages using (file_id)
            where files.session_id = sessions.session_id
                and files.kind = 'session'
                and messages.session_id <> sessions.session_id
                and (
                    sessions.resumed_from_session_id is not null
                    or sessions.session_id in (select session_id from new_guests)
                )
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
where session_id in (select session_id from touched_sessions);

-- A session without a title is called by the first line of what was said first.
update sessions
set title = coalesce(
    custom_title, ai_title, summary,
    nullif(substr(trim(first_prompt), 1, min(instr(trim(first_prompt) || char(10), char(10)) - 1, 120)), ''),
    'session ' || substr(session_id, 1, 8)
)
where session_id in (select session_id from touched_sessions);

drop table new_guests;
drop table new_values;
drop table hints;
drop table session_summaries;
drop table last_events;
