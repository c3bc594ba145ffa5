-- What a session is known by: first and last values of its messages, titles by the last record that gives one.
update sessions
set
    started_at = (select min(sent_at) from messages where messages.session_id = sessions.session_id),
    ended_at = (select max(sent_at) from messages where messages.session_id = sessions.session_id),
    version = (
        select version
        from messages
        where messages.session_id = sessions.session_id and version is not null
        order by sent_at desc, uuid desc
        limit 1
    ),
    git_branch = (
        select git_branch
        from messages
        where messages.session_id = sessions.session_id and git_branch is not null
        order by sent_at desc, uuid desc
        limit 1
    ),
    slug = (
        select slug
        from messages
        where messages.session_id = sessions.session_id and slug is not null
        order by sent_at desc, uuid desc
        limit 1
    ),
    start_cwd = (
        select cwd
        from messages
        where messages.session_id = sessions.session_id and cwd is not null and agent_key is null
        order by sent_at, uuid
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

-- A summary belongs to the session that holds its leaf, in whatever file it was written.
create temp table session_summaries as
select
    leaf.session_id, leaf.sent_at, json_extract(events.payload_json, '$.summary') as summary,
    files.path, files.generation, events.byte_offset
from events
join messages as leaf on leaf.uuid = events.message_uuid
join files on files.file_id = events.file_id
where events.type = 'summary' and leaf.session_id in (select session_id from touched_sessions);

create index temp.session_summaries_by_session on session_summaries (session_id);

update sessions
set
    title = coalesce(
        (
            select nullif(json_extract(payload_json, '$.customTitle'), '')
            from events join files using (file_id)
            where events.session_id = sessions.session_id and type = 'custom-title'
            order by files.path desc, files.generation desc, byte_offset desc
            limit 1
        ),
        (
            select nullif(json_extract(payload_json, '$.aiTitle'), '')
            from events join files using (file_id)
            where events.session_id = sessions.session_id and type = 'ai-title'
            order by files.path desc, files.generation desc, byte_offset desc
            limit 1
        ),
        (
            select summary
            from session_summaries
            where session_summaries.session_id = sessions.session_id
            order by sent_at desc, path desc, generation desc, byte_offset desc
            limit 1
        )
    ),
    continued_in_session_id = (
        select target.session_id
        from events
        join files using (file_id)
        join sessions as target on target.session_id = events.related_session_id
        where events.session_id = sessions.session_id and events.type = 'continued-in'
        order by files.path desc, files.generation desc, byte_offset desc
        limit 1
    ),
    forked_from_session_id = (
        select target.session_id
        from messages
        join sessions as target on target.session_id = messages.forked_from_session_id
        where messages.session_id = sessions.session_id and messages.forked_from_session_id is not null
        order by messages.sent_at, messages.uuid
        limit 1
    )
where session_id in (select session_id from touched_sessions);

drop table session_summaries;

update agents
set
    started_at = (select min(sent_at) from messages where messages.agent_key = agents.agent_key),
    ended_at = (select max(sent_at) from messages where messages.agent_key = agents.agent_key)
where session_id in (select session_id from touched_sessions);
