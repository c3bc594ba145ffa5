create view _judged_prompts as
-- One row per text that the person typed, with the response before it, whether the text carries no information, and why it is a
-- correction if it follows a response: it opens with a phrase of `correction_phrases`, or states a problem near its beginning or its
-- end. To look for phrases takes much longer than the rest, so sync stores the reasons in `_correction_reasons`, which count as long
-- as the phrases are those that it used.
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
                with head as materialized (
                    select said.beginning as words
                )

                select
                    length(words) <= 1
                    or words in (select trivial_text from trivial_texts where is_used)
                    or (length(words) < 60 and exists (
                        select 1
                        from trivial_texts as first_texts
                        where first_texts.is_used
                            and first_texts.trivial_text not in ('no', 'n', 'nope')
                            -- Search only the texts that can be a prefix.
                            and first_texts.trivial_text between substr(head.words, 1, 1) and head.words
                            and substr(head.words, 1, length(first_texts.trivial_text) + 1) = first_texts.trivial_text || ' '
                            and ltrim(substr(head.words, length(first_texts.trivial_text) + 2), ' .!;:-')
                                in (select trivial_text from trivial_texts where is_used)
                    ))
                from head
            )),
            0
        ) as is_trivial
    from said
)

-- SQLite computes a column of `judged`, and fills a table of `with`, again wherever it is named: these are named as rarely as
-- possible.
select
    judged.*,
    case when stored.message_id is not null then stored.correction_reason when judged.kind <> 'human' or judged.is_trivial then null else (
        with recursive heads as materialized (
            select judged.beginning as words
        ),

        padded as materialized (
            select ' ' || words || ' ' as words
            from heads
        ),

        -- What is quoted or pasted is often in the middle.
        ends as materialized (
            select
                ' ' || substr(words, 1, 200) || iif(length(words) between 400 and 999, ' ' || substr(words, -160), '') || ' ' as near
            from heads
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

        -- The phrase after the fewest fillers, of these the longest.
        opened as materialized (
            select
                substr(min(iif(role = 'opening', printf('%d %03d %s', filler_count, 999 - length(correction_phrase), correction_phrase), null)), 7)
                    as opening,
                coalesce(max(role = 'request'), 0) as is_request
            from openings
            cross join correction_phrases
            where is_used
                and role in ('opening', 'request')
                -- Search only the phrases that can be a prefix.
                and correction_phrase between substr(openings.words, 1, 1) and openings.words
                and substr(openings.words, 1, length(correction_phrase)) = correction_phrase
                and substr(openings.words, length(correction_phrase) + 1, 1) not between 'a' and 'z'
        ),

        -- Phrases near the beginning and the end are looked up by their first word; words of Chinese and Japanese have no space
        -- before them.
        near_phrases (near, role, correction_phrase, place, after) as (
            select
                ends.near, role, correction_phrase, instr(ends.near, ' ' || correction_phrase),
                instr(ends.near, ' ' || correction_phrase) + length(correction_phrase) + 1
            from ends
            cross join json_each('[' || replace(json_quote(trim(ends.near)), ' ', '","') || ']') as word
            cross join correction_phrases
            where is_used
                and role in ('problem', 'excuse')
                and correction_phrase between rtrim(word.value, '.!?;:…') and rtrim(word.value, '.!?;:…') || ':' || char(1114111)
                and instr(ends.near, ' ' || correction_phrase) > 0
            union all
            select ends.near, role, correction_phrase, instr(ends.near, correction_phrase), 0
            from ends
            cross join correction_phrases
            where length(ends.near) < length(cast(ends.near as blob))
                and is_used
                and role in ('problem', 'excuse')
                and correction_phrase >= char(11904)
                and instr(ends.near, correction_phrase) > 0
        ),

        stated as materialized (
            select
                min(iif(
                    role = 'problem'
                    -- "The failing tests" and "this error" only name them.
                    and not (
                        (correction_phrase glob '*ing' or correction_phrase in ('error', 'errors'))
                        and substr(
                            substr(near, 1, place - 1), length(rtrim(substr(near, 1, place - 1), 'abcdefghijklmnopqrstuvwxyz')) + 1
                        ) in ('the', 'that', 'this', 'those', 'these', 'any', 'a', 'an')
                    ),
                    correction_phrase, null
                )) as problem,
                -- "It works now, but ..." is no excuse.
                coalesce(max(role = 'excuse' and instr(substr(near, after), ' but ') = 0), 0) as is_excused
            from near_phrases
            where substr(near, after, 1) not between 'a' and 'z'
        )

        select case
            when stated.is_excused then null
            when opened.opening is not null then 'opens with: ' || opened.opening
            when opened.is_request then null
            when stated.problem is not null then 'states: ' || stated.problem
            when not judged.is_question then (
                select 'states: ' || group_concat(correction_phrase, ', ')
                from (
                    select correction_phrase
                    from padded
                    cross join json_each('[' || replace(json_quote(trim(padded.words)), ' ', '","') || ']') as word
                    cross join correction_phrases
                    where is_used
                        and role in ('problem', 'hint')
                        and correction_phrase between rtrim(word.value, '.!?;:…') and rtrim(word.value, '.!?;:…') || ':' || char(1114111)
                        and instr(padded.words, ' ' || correction_phrase) > 0
                        and substr(padded.words, instr(padded.words, ' ' || correction_phrase) + length(correction_phrase) + 1, 1)
                            not between 'a' and 'z'
                    union
                    select correction_phrase
                    from padded
                    cross join correction_phrases
                    where length(padded.words) < length(cast(padded.words as blob))
                        and is_used
                        and role in ('problem', 'hint')
                        and correction_phrase >= char(11904)
                        and instr(padded.words, correction_phrase) > 0
                    order by correction_phrase
                )
                having count(*) >= 3
            )
        end
        from opened
        cross join stated
    ) end as correction_reason
from judged
left join _correction_reasons as stored
    on stored.message_id = judged.message_id
    and (select settings.value from settings where settings.setting = 'judged_with') = (select _used_phrases.phrases from _used_phrases);
