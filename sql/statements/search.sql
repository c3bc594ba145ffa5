-- The best matches, newest first among equals. The marks around matches are private characters that no text has.
select
    messages.sent_at,
    projects.name as project,
    case
        when content_blocks.type = 'thinking' then 'thinking'
        when content_blocks.type = 'tool_use' then coalesce(tool_uses.name, 'tool')
        when content_blocks.type = 'tool_result' then 'result'
        when messages.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note') then 'you'
        when messages.type = 'assistant' then 'claude'
        else coalesce(messages.prompt_kind, messages.type)
    end as role,
    messages.session_id,
    snippet(search, 0, char(57344), char(57345), ' … ', 24) as excerpt,
    messages.uuid
from search
join content_blocks on content_blocks.block_id = search.rowid
join messages on messages.message_id = content_blocks.message_id
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join sessions on sessions.session_id = messages.session_id
left join projects on projects.project_id = sessions.project_id
where search match :words
    and (:project is null or projects.name like '%' || :project || '%' or projects.path like '%' || :project || '%')
    and (:since is null or messages.sent_at >= :since)
    and (:until is null or messages.sent_at <= :until || 'T99')
    and (
        :role is null
        or (:role = 'you' and messages.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note'))
        or (:role = 'claude' and messages.type = 'assistant' and content_blocks.type = 'text')
        or (:role = 'thinking' and content_blocks.type = 'thinking')
        or (:role = 'command' and content_blocks.type = 'tool_use')
        or (:role = 'result' and content_blocks.type = 'tool_result')
    )
    and (:tool is null or tool_uses.name = :tool)
order by search.rank, messages.sent_at desc
limit :limit
