-- The signals of the person, by the rules of the views prompts and feedback, which read those of all sessions.
create temp table said_prompts as
select
    messages.session_id, messages.agent_key, messages.message_id, null as tool_use_id, messages.prompt_kind as kind,
    coalesce(messages.type = 'attachment' or (messages.type <> 'system' and messages.prompt_source = 'queued'), 0)
        as is_queued,
    substr(coalesce(messages.prompt_text, (
        select group_concat(substr(content_blocks.text, 1, 1000000), char(10) order by content_blocks.position)
        from content_blocks
        where content_blocks.message_id = messages.message_id
            and content_blocks.type = 'text'
            and content_blocks.part_number = 0
    )), 1, 1000000) as text,
    null as question, messages.git_branch, messages.sent_at as said_at
from (select session_id from touched_sessions union all select null) as touched
cross join messages indexed by messages_by_prompt
    on messages.session_id is touched.session_id
    and messages.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note')
union all
select
    messages.session_id, messages.agent_key, messages.message_id, null, content_blocks.prompt_kind, 1,
    substr(content_blocks.text, 1, 1000000), null, messages.git_branch, messages.sent_at
from content_blocks indexed by content_blocks_beside_results
cross join messages on messages.message_id = content_blocks.message_id
where content_blocks.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note')
    and messages.prompt_kind = 'tool_result'
    and (messages.session_id is null or messages.session_id in (select session_id from touched_sessions))
union all
select
    messages.session_id, messages.agent_key, messages.message_id, tool_results.tool_use_id, 'answer', 0,
    cast(answers.value as text), answers.key, messages.git_branch, messages.sent_at
from tool_uses indexed by tool_uses_by_name
cross join tool_results on tool_results.tool_use_id = tool_uses.tool_use_id
cross join messages on messages.message_id = tool_results.message_id
cross join json_each(tool_results.details_json, '$.answers') as answers
where tool_uses.name = 'AskUserQuestion'
    and (messages.session_id is null or messages.session_id in (select session_id from touched_sessions))
    and json_type(tool_results.details_json, '$.answers') = 'object'
union all
select
    queued_prompts.session_id, null, null, null, queued_prompts.kind, 1, queued_prompts.text, null, null,
    queued_prompts.said_at
from (select session_id from touched_sessions union all select null) as touched
cross join queued_prompts on queued_prompts.session_id is touched.session_id;

create temp table signals as
with said as materialized (
    select
        said_prompts.*,
        (
            select messages.message_id
            from messages
            where messages.session_id = said_prompts.session_id
                and messages.sent_at < said_prompts.said_at
                and messages.type = 'assistant'
                and messages.agent_key is said_prompts.agent_key
            order by messages.sent_at desc, messages.uuid desc
            limit 1
        ) as previous_message_id,
        lower(substr(ltrim(said_prompts.text), 1, 1000)) as beginning,
        replace(rtrim(lower(trim(said_prompts.text)), '.!,;: '), ',', '') as plain_text
    from said_prompts
)

select
    case tool_uses.name when 'ExitPlanMode' then 'plan_rejected' else 'denial' end as kind,
    carriers.session_id, carriers.agent_key, carriers.message_id, tool_uses.message_id as about_message_id,
    tool_uses.tool_use_id, tool_results.denial_reason as text, null as question, carriers.git_branch,
    carriers.sent_at as said_at, 0 as is_trivial
from tool_results indexed by tool_results_rejected
cross join messages as carriers on carriers.message_id = tool_results.message_id
left join tool_uses on tool_uses.tool_use_id = tool_results.tool_use_id
where tool_results.outcome = 'user_rejected'
    and (carriers.session_id is null or carriers.session_id in (select session_id from touched_sessions))
union all
select
    'interruption', messages.session_id, messages.agent_key, messages.message_id, messages.parent_message_id, null, null,
    null, messages.git_branch, messages.sent_at, 0
from (select session_id from touched_sessions union all select null) as touched
cross join messages indexed by messages_by_prompt
    on messages.session_id is touched.session_id
    and messages.prompt_kind = 'interrupt'
where not exists (
    select 1
    from tool_results
    where tool_results.message_id = messages.parent_message_id
        and tool_results.outcome in ('user_rejected', 'interrupted')
)
union all
select
    'interruption', carriers.session_id, carriers.agent_key, carriers.message_id, tool_uses.message_id,
    tool_uses.tool_use_id, null, null, carriers.git_branch, carriers.sent_at, 0
from tool_results indexed by tool_results_interrupted
cross join messages as carriers on carriers.message_id = tool_results.message_id
left join tool_uses on tool_uses.tool_use_id = tool_results.tool_use_id
where tool_results.outcome = 'interrupted'
    and (carriers.session_id is null or carriers.session_id in (select session_id from touched_sessions))
union all
select
    case
        when said.kind = 'answer' then 'answer'
        when said.kind = 'human'
            and said.previous_message_id is not null
            and exists (
                select 1
                from correction_phrases
                where correction_phrases.is_used
                    and correction_phrase between substr(said.beginning, 1, 1) and said.beginning -- so that few are tried
                    and substr(said.beginning, 1, length(correction_phrase)) = correction_phrase
                    and substr(said.beginning, length(correction_phrase) + 1, 1) not between 'a' and 'z'
            )
            then 'correction'
        when said.is_queued then 'queued_prompt'
        else 'prompt'
    end,
    said.session_id, said.agent_key, said.message_id, said.previous_message_id,
    case said.kind when 'answer' then said.tool_use_id end,
    said.text, said.question, said.git_branch, said.said_at,
    coalesce(
        said.kind = 'slash_command'
        or length(said.plain_text) <= 1
        or said.plain_text in (select trivial_text from trivial_texts where is_used),
        0
    )
from said;

delete from bi_feedback
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_feedback (
    session_id, signal_number, kind, tool_name, tool_use_id, model, agent_type, git_branch, project, machine, text_length,
    is_trivial, said_at, said_unix
)
select
    coalesce(signals.session_id, ''),
    row_number() over (
        partition by coalesce(signals.session_id, '')
        order by
            signals.said_at is null, signals.said_at, signals.kind, signals.tool_use_id, messages.uuid, signals.question,
            signals.text
    ),
    signals.kind,
    tool_uses.name,
    signals.tool_use_id,
    about.model,
    agents.agent_type,
    coalesce(signals.git_branch, about.git_branch),
    coalesce(projects.name, ''),
    coalesce(session_machines.machine, ''),
    coalesce(length(signals.text), 0),
    signals.is_trivial,
    replace(rtrim(signals.said_at, 'Z'), 'T', ' '),
    unixepoch(signals.said_at)
from signals
left join messages on messages.message_id = signals.message_id
left join messages as about on about.message_id = signals.about_message_id
left join tool_uses on tool_uses.tool_use_id = signals.tool_use_id
left join agents on agents.agent_key = signals.agent_key
left join sessions on sessions.session_id = signals.session_id
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = signals.session_id;

drop table signals;
drop table said_prompts;
