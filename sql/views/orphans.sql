create view orphans as
-- One row per reference without a target: it was never written, was deleted, or is on another machine.
select
    'parent message' as reference, messages.session_id, messages.uuid as from_id, messages.parent_uuid as missing_id,
    messages.sent_at as referred_at
from messages
where messages.parent_message_id is null and messages.parent_uuid is not null

union all

select
    'message before a compaction', messages.session_id, messages.uuid, messages.logical_parent_uuid, messages.sent_at
from messages
where messages.logical_parent_message_id is null and messages.logical_parent_uuid is not null

union all

select
    'call of a tool result', messages.session_id, messages.uuid, tool_results.source_tool_use_id, messages.sent_at
from tool_results
join messages using (message_id)
where tool_results.tool_use_id is null

union all

select
    'result of a tool call', messages.session_id, tool_uses.tool_use_id, null, messages.sent_at
from tool_uses
join messages using (message_id)
where not exists (select 1 from tool_results where tool_results.tool_use_id = tool_uses.tool_use_id)

union all

select
    'call that spawned an agent', agents.session_id, agents.agent_id, null, agents.started_at
from agents
where agents.spawned_by_tool_use_id is null and agents.internal_kind is null

union all

select
    'message of a summary', null, json_extract(events.payload_json, '$.summary'), events.message_uuid, null
from events
where events.type = 'summary'
    and not exists (select 1 from messages where messages.uuid = events.message_uuid)

union all

select
    'transcript of a session', sessions.session_id, sessions.session_id, null, sessions.started_at
from sessions
where not sessions.is_empty
    and not exists (select 1 from files where files.session_id = sessions.session_id and files.kind = 'session')

union all

select
    'text of a paste', history_prompts.session_id, cast(pasted_contents.paste_number as text), pasted_contents.cache_name,
    history_prompts.prompted_at
from pasted_contents
join history_prompts using (history_prompt_id)
where pasted_contents.cache_name is not null and pasted_contents.paste_id is null

union all

select
    'output of a tool', messages.session_id, tool_results.source_tool_use_id, tool_results.persisted_name, messages.sent_at
from tool_results
join messages using (message_id)
where tool_results.persisted_name is not null
    and not exists (
        select 1
        from tool_result_files
        where tool_result_files.session_id = messages.session_id
            and tool_result_files.name = tool_results.persisted_name
    );
