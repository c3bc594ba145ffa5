-- Set the keys of references whose target has been imported since.
update messages indexed by messages_without_parent
set parent_message_id = (select parent.message_id from messages as parent where parent.uuid = messages.parent_uuid)
where parent_message_id is null
    and parent_uuid is not null
    and exists (select 1 from messages as parent where parent.uuid = messages.parent_uuid);

update messages
set logical_parent_message_id = (
    select parent.message_id from messages as parent where parent.uuid = messages.logical_parent_uuid
)
where logical_parent_message_id is null
    and logical_parent_uuid is not null
    and exists (select 1 from messages as parent where parent.uuid = messages.logical_parent_uuid);

-- The calls that messages and links name. The loader resolves most of those of messages.
update messages
set tool_use_id = null
where message_id in (
    select messages.message_id
    from touched_tool_uses
    cross join messages indexed by messages_by_tool_use using (tool_use_id)
    where not exists (select 1 from tool_uses where tool_uses.tool_use_id = touched_tool_uses.tool_use_id)
);

update messages
set tool_use_id = source_tool_use_id
where message_id in (
    select messages.message_id
    from changed_calls
    cross join messages indexed by messages_without_call
        on messages.source_tool_use_id = changed_calls.tool_use_id
        and messages.tool_use_id is null
    union all
    select messages.message_id
    from counted_rows
    cross join messages indexed by messages_without_call
    where counted_rows.touches_all -- then changed_calls lacks the new calls
        and messages.tool_use_id is null
        and messages.source_tool_use_id is not null
)
    and exists (select 1 from tool_uses where tool_uses.tool_use_id = messages.source_tool_use_id);

update agent_links
set tool_use_id = (select tool_uses.tool_use_id from tool_uses where tool_uses.tool_use_id = agent_links.source_tool_use_id)
where agent_link_id in (
    select agent_links.agent_link_id
    from touched_sessions
    cross join agent_links using (session_id)
);

drop table changed_calls;
