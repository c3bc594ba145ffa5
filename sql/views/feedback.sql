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

-- What the person said, with the preceding response.
said as (
    select
        prompts.*,
        (
            select messages.message_id
            from messages
            where messages.session_id = prompts.session_id
                and messages.sent_at < prompts.said_at
                and messages.type = 'assistant'
                and messages.agent_run_id is prompts.agent_run_id
            order by messages.sent_at desc, messages.uuid desc
            limit 1
        ) as previous_message_id,
        -- The words of its beginning: one line, straight apostrophes, no commas, no control characters around it.
        trim(
            replace(replace(replace(replace(replace(
                lower(substr(prompts.text, 1, 1000)), char(10), ' '), char(13), ' '), char(9), ' '), '’', ''''), ',', ''),
            ' .!?;:…。！？、' || char(
                1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 127, 160,
                65279, 65533
            )
        ) as beginning,
        length(prompts.text) > 1000 as is_long
    from prompts
    where prompts.kind = 'answer'
        or prompts.kind in (select prompt_kind from prompt_kinds where is_typed)
),

-- Words of Chinese and Japanese have no space before them.
anywhere as materialized (
    select iif(unicode(correction_phrase) >= 11904, '', ' ') || correction_phrase as phrase
    from correction_phrases
    where is_used and position = 'anywhere'
),

-- Nothing but a trivial text, or two of them: "ok, proceed".
judged as (
    select
        said.*,
        coalesce(
            said.kind = 'slash_command'
            or (not said.is_long and (
                length(said.beginning) <= 1
                or said.beginning in (select trivial_text from trivial_texts where is_used)
                or (length(said.beginning) < 60 and exists (
                    with head as materialized (
                        select said.beginning as words
                    )

                    select 1
                    from head
                    cross join trivial_texts as first_texts
                    where first_texts.is_used
                        -- Search only the texts that can be a prefix.
                        and first_texts.trivial_text between substr(head.words, 1, 1) and head.words
                        and first_texts.trivial_text not in ('no', 'n', 'nope')
                        and substr(head.words, 1, length(first_texts.trivial_text) + 1) = first_texts.trivial_text || ' '
                        and ltrim(substr(head.words, length(first_texts.trivial_text) + 2), ' .!;:-')
                            in (select trivial_text from trivial_texts where is_used)
                ))
            )),
            0
        ) as is_trivial
    from said
),

signals as (
    select
        case
            when said.kind = 'answer' then 'answer'
            when said.kind = 'human'
                and said.previous_message_id is not null
                and not said.is_trivial
                and (
                    exists (
                        with head as materialized (
                            select said.beginning as words
                        )

                        select 1
                        from head
                        cross join correction_phrases
                        where correction_phrases.is_used
                            and position = 'start'
                            -- Search only the phrases that can be a prefix.
                            and correction_phrase between substr(head.words, 1, 1) and head.words
                            and substr(head.words, 1, length(correction_phrase)) = correction_phrase
                            and substr(head.words, length(correction_phrase) + 1, 1) not between 'a' and 'z'
                    )
                    or exists (
                        with head as materialized (
                            select ' ' || substr(said.beginning, 1, 160) || ' ' as words
                        )

                        select 1
                        from head
                        cross join anywhere
                        where instr(head.words, anywhere.phrase) > 0
                            and substr(head.words, instr(head.words, anywhere.phrase) + length(anywhere.phrase), 1)
                                not between 'a' and 'z'
                    )
                )
                then 'correction'
            when said.delivery in ('queued', 'queue_only', 'beside_result') then 'queued_prompt'
            else 'prompt'
        end as kind,
        said.session_id, said.project, said.agent_run_id, said.message_id, said.event_id, said.history_prompt_id, said.file_id,
        said.line_number,
        said.previous_message_id as about_message_id,
        case said.kind when 'answer' then said.tool_use_id end as tool_use_id,
        said.text, said.question, said.git_branch, said.said_at,
        said.is_trivial
    from judged as said
    union all
    select
        objections.kind, objections.session_id, projects.name, objections.agent_run_id, objections.message_id, null, null, messages.file_id,
        messages.line_number, objections.about_message_id, objections.tool_use_id, objections.text, null,
        objections.git_branch, objections.said_at, 0
    from objections
    join messages using (message_id)
    left join sessions on sessions.session_id = objections.session_id
    left join projects on projects.project_id = sessions.project_id
)

select
    signals.kind,
    signals.session_id,
    signals.project,
    signals.text,
    signals.question,
    signals.is_trivial,
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
