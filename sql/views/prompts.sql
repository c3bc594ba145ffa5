create view prompts as
-- One row per input from the person: prompts, commands, replies to questions, reasons for a rejection, and text typed while
-- Claude worked. Truncated to 1,000,000 characters.
-- `indexed by` makes SQLite use the small indexes on messages of one kind.
select
    messages.session_id,
    messages.agent_run_id,
    messages.message_id,
    null as event_id,
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
    messages.sent_at as said_at
from messages indexed by messages_by_prompt
where messages.prompt_kind in (select prompt_kind from prompt_kinds where is_prompt)

union all

-- Typed while a tool ran and delivered with its result (2.1.19 to 2.1.37).
select
    messages.session_id, messages.agent_run_id, messages.message_id, null, null, content_blocks.prompt_kind, 'beside_result',
    substr(content_blocks.text, 1, 1000000), null, null, null, messages.permission_mode, messages.git_branch,
    messages.version, messages.sent_at
from content_blocks indexed by content_blocks_beside_results
cross join messages using (message_id)
where messages.prompt_kind = 'tool_result'
    and content_blocks.prompt_kind in (select prompt_kind from prompt_kinds where is_typed)

union all

-- Replies to questions.
select
    messages.session_id, messages.agent_run_id, messages.message_id, null, tool_results.tool_use_id, 'answer', 'answer',
    cast(answers.value as text), answers.key, null, null, messages.permission_mode, messages.git_branch, messages.version,
    messages.sent_at
from tool_uses indexed by tool_uses_by_name
cross join tool_results using (tool_use_id)
cross join messages on messages.message_id = tool_results.message_id
cross join json_each(tool_results.details_json, '$.answers') as answers
where tool_uses.name = 'AskUserQuestion'
    and json_type(tool_results.details_json, '$.answers') = 'object'

union all

-- Reasons for a rejection.
select
    messages.session_id, messages.agent_run_id, messages.message_id, null, tool_results.tool_use_id, 'rejection', 'rejection',
    tool_results.denial_reason, null, null, null, messages.permission_mode, messages.git_branch, messages.version,
    messages.sent_at
from tool_results indexed by tool_results_with_reason
cross join messages using (message_id)
where tool_results.denial_reason is not null

union all

-- Typed while Claude worked, where the queue is the only trace.
select
    session_id, null, null, event_id, null, kind, 'queue_only', text, null, command_name, command_arguments, null, null, null,
    said_at
from queued_prompts;
