create view _judged_prompts as
-- One row per text that the person typed, with the response before it, whether the text carries no information, and why it is a
-- correction: it opens with a phrase of `correction_phrases`, has one near its beginning, or states a problem.
with said as (
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
        -- The words of its beginning: one line, straight apostrophes, no commas, quotes or parentheses, no control characters
        -- around it.
        trim(
            replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
                lower(substr(prompts.text, 1, 1000)),
                char(10), ' '), char(13), ' '), char(9), ' '), '’', ''''), ',', ' '), '"', ' '), '`', ' '), '(', ' '), ')', ' '),
                '  ', ' '), '  ', ' '),
            ' .!?;:…。！？、' || char(
                1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 127, 160,
                65279, 65533
            )
        ) as beginning,
        instr(substr(prompts.text, 1, 1000), '?') or instr(substr(prompts.text, 1, 1000), '？') as is_question,
        length(prompts.text) > 1000 as is_long
    from prompts
    where prompts.kind = 'answer'
        or prompts.kind in (select prompt_kind from prompt_kinds where is_typed)
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

-- Words of Chinese and Japanese have no space before them.
near_phrases as materialized (
    select role, correction_phrase, iif(unicode(correction_phrase) >= 11904, '', ' ') || correction_phrase as phrase
    from correction_phrases
    where is_used
        and role in ('problem', 'excuse')
),

hints as materialized (
    select correction_phrase, iif(unicode(correction_phrase) >= 11904, '', ' ') || correction_phrase as phrase
    from correction_phrases
    where is_used
        and role in ('problem', 'hint')
)

select
    judged.*,
    case when judged.kind = 'human' and judged.previous_message_id is not null and not judged.is_trivial then (
        with recursive heads as materialized (
            select
                judged.beginning as words,
                ' ' || judged.beginning || ' ' as padded,
                ' ' || substr(judged.beginning, 1, 200) || ' ' as near
        ),

        -- The words, and what is left of them without one filler, two fillers, ...
        openings (words, filler_count) as (
            select words, 0
            from heads
            union all
            select ltrim(substr(words, instr(words, ' ')), ' .!?;:…-'), filler_count + 1
            from openings
            where filler_count < 5
                and instr(words, ' ') > 0
                and rtrim(substr(words, 1, instr(words, ' ') - 1), '.!?;:…')
                    in (select correction_phrase from correction_phrases where role = 'filler' and is_used)
        ),

        opened as materialized (
            select correction_phrases.role, correction_phrases.correction_phrase, openings.filler_count
            from openings
            cross join correction_phrases
            where correction_phrases.is_used
                and correction_phrases.role in ('opening', 'request')
                -- Search only the phrases that can be a prefix.
                and correction_phrases.correction_phrase between substr(openings.words, 1, 1) and openings.words
                and substr(openings.words, 1, length(correction_phrase)) = correction_phrase
                and substr(openings.words, length(correction_phrase) + 1, 1) not between 'a' and 'z'
        ),

        -- Phrases near the beginning.
        near as materialized (
            select near_phrases.role, near_phrases.correction_phrase
            from heads
            cross join near_phrases
            where instr(heads.near, near_phrases.phrase) > 0
                and substr(heads.near, instr(heads.near, near_phrases.phrase) + length(near_phrases.phrase), 1)
                    not between 'a' and 'z'
        )

        select case
            when exists (select 1 from near where role = 'excuse') then null
            else coalesce(
                (
                    select 'opens with: ' || correction_phrase
                    from opened
                    where role = 'opening'
                    order by filler_count, length(correction_phrase) desc
                    limit 1
                ),
                case when not exists (select 1 from opened where role = 'request') then coalesce(
                    (select 'states: ' || min(correction_phrase) from near where role = 'problem'),
                    (
                        select 'states: ' || group_concat(correction_phrase, ', ')
                        from (
                            select hints.correction_phrase
                            from heads
                            cross join hints
                            where instr(heads.padded, hints.phrase) > 0
                                and substr(heads.padded, instr(heads.padded, hints.phrase) + length(hints.phrase), 1)
                                    not between 'a' and 'z'
                            order by hints.correction_phrase
                        )
                        having count(*) >= 3 and not judged.is_question
                    )
                ) end
            )
        end
    ) end as correction_reason
from judged;
