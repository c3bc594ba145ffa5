create view feedback as
-- One row per signal from the person: a denial with its reason, an interruption, a rejected plan, an answer to a question,
-- a correction, a prompt typed while Claude worked, any other prompt; with what it is about.
with denials as (
    select
        case tool_uses.name when 'ExitPlanMode' then 'plan_rejected' else 'denial' end as kind,
        carriers.session_id, carriers.agent_key, carriers.message_id, tool_uses.message_id as about_message_id,
        tool_uses.tool_use_id, tool_results.denial_reason as text, null as question, carriers.git_branch,
        carriers.sent_at as said_at
    from tool_results
    join messages as carriers on carriers.message_id = tool_results.message_id
    left join tool_uses on tool_uses.tool_use_id = tool_results.tool_use_id
    where tool_results.outcome = 'user_rejected'
),

-- The mark that a denial or a stopped tool leaves behind repeats it.
interruptions as (
    select
        'interruption' as kind,
        messages.session_id, messages.agent_key, messages.message_id,
        messages.parent_message_id as about_message_id,
        null as tool_use_id, null as text, null as question, messages.git_branch, messages.sent_at as said_at
    from messages
    where messages.prompt_kind = 'interrupt'
        and not exists (
            select 1
            from tool_results
            where tool_results.message_id = messages.parent_message_id
                and tool_results.outcome in ('user_rejected', 'interrupted')
        )
    union all
    select
        'interruption', carriers.session_id, carriers.agent_key, carriers.message_id, tool_uses.message_id,
        tool_uses.tool_use_id, null, null, carriers.git_branch, carriers.sent_at
    from tool_results
    join messages as carriers on carriers.message_id = tool_results.message_id
    left join tool_uses on tool_uses.tool_use_id = tool_results.tool_use_id
    where tool_results.outcome = 'interrupted'
),

-- What the person said, and the answer that it follows.
said as (
    select
        prompts.*,
        (
            select messages.message_id
            from messages
            where messages.session_id = prompts.session_id
                and messages.sent_at < prompts.said_at
                and messages.type = 'assistant'
                and messages.agent_key is prompts.agent_key
            order by messages.sent_at desc, messages.uuid desc
            limit 1
        ) as previous_message_id,
        replace(rtrim(lower(trim(prompts.text)), '.!,;: '), ',', '') as plain_text
    from prompts
    where prompts.kind in ('human', 'slash_command', 'bash_command', 'memory_note', 'answer')
),

spoken as (
    select
        case
            when said.kind = 'answer' then 'answer'
            when said.kind = 'human'
                and said.previous_message_id is not null
                and exists (
                    select 1
                    from correction_phrases
                    where correction_phrases.is_used
                        and correction_phrase between substr(lower(ltrim(said.text)), 1, 1) and lower(ltrim(said.text))
                        and substr(lower(ltrim(said.text)), 1, length(correction_phrase)) = correction_phrase
                        and substr(lower(ltrim(said.text)), length(correction_phrase) + 1, 1) not between 'a' and 'z'
                )
                then 'correction'
            when said.delivery in ('queued', 'queue_only', 'beside_result') then 'queued_prompt'
            else 'prompt'
        end as kind,
        said.session_id, said.agent_key, said.message_id,
        said.previous_message_id as about_message_id,
        case said.kind when 'answer' then said.tool_use_id end as tool_use_id,
        said.text, said.question, said.git_branch, said.said_at,
        coalesce(
            said.kind = 'slash_command'
            or length(said.plain_text) <= 1
            or said.plain_text in (select trivial_text from trivial_texts where is_used),
            0
        ) as is_trivial
    from said
),

signals as (
    select denials.*, 0 as is_trivial from denials
    union all
    select interruptions.*, 0 from interruptions
    union all
    select spoken.* from spoken
)

select
    signals.kind,
    signals.session_id,
    projects.name as project,
    signals.text,
    signals.question,
    signals.is_trivial,
    signals.tool_use_id,
    tool_uses.name as tool_name,
    tool_uses.command,
    tool_uses.file_path,
    about.model,
    signals.agent_key,
    agents.agent_type,
    coalesce(signals.git_branch, about.git_branch) as git_branch,
    signals.message_id,
    signals.about_message_id, -- the call, or the answer that it follows
    signals.said_at
from signals
left join messages as about on about.message_id = signals.about_message_id
left join tool_uses on tool_uses.tool_use_id = signals.tool_use_id
left join agents on agents.agent_key = signals.agent_key
left join sessions on sessions.session_id = signals.session_id
left join projects on projects.project_id = sessions.project_id;
