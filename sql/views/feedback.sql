create view feedback as
-- One row per signal from the person: a denial with its reason, an interruption, a rejected plan, a reply to a question,
-- a correction, a prompt typed while Claude worked, any other prompt; with the call or response it refers to.
with objections as (
    select
        case
            when tool_results.outcome = 'interrupted' then 'interruption'
            when tool_uses.name = 'ExitPlanMode' then 'plan_rejected'
            else 'denial'
        end as kind,
        carriers.session_id, carriers.agent_run_id, carriers.message_id,
        coalesce(tool_uses.message_id, carriers.parent_message_id) as about_message_id,
        tool_uses.tool_use_id, tool_results.denial_reason as text, carriers.git_branch, carriers.sent_at as said_at
    from tool_results indexed by tool_results_stopped
    cross join messages as carriers on carriers.message_id = tool_results.message_id
    left join tool_uses on tool_uses.tool_use_id = tool_results.tool_use_id
    where tool_results.outcome in ('user_rejected', 'interrupted')
    union all
    -- The mark after a denial or a stopped tool repeats the signal.
    select
        'interruption', session_id, agent_run_id, message_id, about_message_id, tool_use_id, null, git_branch, sent_at
    from _interrupt_marks
    where not is_repeated
),

signals as (
    select
        case
            when said.kind = 'answer' then 'answer'
            when said.delivery in ('queued', 'queue_only', 'beside_result') then 'queued_prompt'
            else 'prompt'
        end as kind,
        said.session_id, said.project, said.agent_run_id, said.message_id, said.event_id, said.history_prompt_id, said.file_id,
        said.line_number,
        said.previous_message_id as about_message_id,
        case said.kind when 'answer' then said.tool_use_id end as tool_use_id,
        said.text, said.question, said.git_branch, said.said_at,
        said.is_trivial, iif(said.previous_message_id is null, null, said.correction_reason) as correction_reason
    from _judged_prompts as said
    union all
    select
        objections.kind, objections.session_id, projects.name, objections.agent_run_id, objections.message_id, null, null, messages.file_id,
        messages.line_number, objections.about_message_id, objections.tool_use_id, objections.text, null,
        objections.git_branch, objections.said_at, 0, null
    from objections
    join messages using (message_id)
    left join sessions on sessions.session_id = objections.session_id
    left join projects on projects.project_id = sessions.project_id
)

select
    iif(signals.correction_reason is null, signals.kind, 'correction') as kind,
    signals.session_id,
    signals.project,
    signals.text,
    signals.question,
    signals.is_trivial,
    signals.correction_reason, -- the rule and the phrase that make the prompt a correction
    signals.tool_use_id,
    tool_uses.name as tool_name,
    tool_uses.command,
    tool_uses.file_path,
    about.model,
    signals.agent_run_id,
    agents.agent_type,
    coalesce(signals.git_branch, about.git_branch) as git_branch,
    signals.message_id,
    signals.event_id, -- of a prompt found only in the queue
    signals.history_prompt_id, -- of a prompt found only in history.jsonl
    signals.file_id, -- the line that has the signal
    signals.line_number,
    signals.about_message_id, -- the call, or the preceding response
    date(signals.said_at, (
        select utc_offset from time_zone_offsets where begins_at <= signals.said_at order by begins_at desc limit 1
    )) as said_date, -- local
    signals.said_at
from signals
left join messages as about on about.message_id = signals.about_message_id
left join tool_uses on tool_uses.tool_use_id = signals.tool_use_id
left join agents on agents.agent_run_id = signals.agent_run_id;
