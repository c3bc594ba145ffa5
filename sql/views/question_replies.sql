create view question_replies as
-- One row per question of AskUserQuestion and reply to it: one per option chosen, one per note. A free-text reply to all
-- questions has no question. A question without a reply has one row.
with questions as (
    select
        tool_uses.tool_use_id,
        tool_uses.message_id as asked_message_id,
        questions.key + 1 as question_number,
        json_extract(tool_uses.input_json, questions.fullkey || '.question') as question,
        json_extract(tool_uses.input_json, questions.fullkey || '.header') as header,
        coalesce(json_extract(tool_uses.input_json, questions.fullkey || '.multiSelect') in (1, 'true'), 0) as is_multi_select
    from tool_uses indexed by tool_uses_by_name
    cross join json_each(tool_uses.input_json, '$.questions') as questions
    where tool_uses.name = 'AskUserQuestion'
        and json_type(tool_uses.input_json, '$.questions') = 'array'
),

options as (
    select
        questions.tool_use_id,
        questions.question_number,
        questions.question,
        json_extract(tool_uses.input_json, options.fullkey || '.label') as label
    from questions
    cross join tool_uses using (tool_use_id)
    cross join json_each(tool_uses.input_json, '$.questions[' || (questions.question_number - 1) || '].options') as options
),

results as (
    select tool_uses.tool_use_id, tool_results.tool_result_id, tool_results.message_id, tool_results.details_json
    from tool_uses indexed by tool_uses_by_name
    cross join tool_results using (tool_use_id)
    where tool_uses.name = 'AskUserQuestion'
        and json_type(tool_results.details_json) = 'object'
        and json_extract(tool_results.details_json, '$.afkTimeoutMs') is null -- nobody was there to reply
),

-- A value is a text or, of several options, a list.
answers as (
    select
        results.tool_use_id, results.tool_result_id, results.message_id, answers.key as question, parts.id as part_number,
        cast(parts.atom as text) as reply
    from results
    cross join json_each(results.details_json, '$.answers') as answers
    cross join json_tree(
        case when answers.type in ('array', 'object') then answers.value else json_array(answers.value) end
    ) as parts
    where json_type(results.details_json, '$.answers') = 'object'
        and parts.atom is not null
),

-- Older versions write several options as one text.
chosen as (
    select answers.tool_result_id, answers.question, answers.part_number, options.label
    from answers
    cross join questions
        on questions.tool_use_id = answers.tool_use_id
        and questions.question = answers.question
        and questions.is_multi_select
    cross join options
        on options.tool_use_id = questions.tool_use_id and options.question_number = questions.question_number
    where instr(', ' || answers.reply || ', ', ', ' || options.label || ', ') > 0
),

-- Unless the options are all of the text, a part of it is the person's own.
split as (
    select chosen.tool_result_id, chosen.question, chosen.part_number
    from chosen
    cross join answers
        on answers.tool_result_id = chosen.tool_result_id
        and answers.question = chosen.question
        and answers.part_number = chosen.part_number
    group by chosen.tool_result_id, chosen.question, chosen.part_number
    having sum(length(chosen.label) + 2) - 2 = length(max(answers.reply))
),

replies as (
    select answers.tool_use_id, answers.tool_result_id, answers.message_id, answers.question, answers.reply, 'answer' as kind
    from answers
    left join split
        on split.tool_result_id = answers.tool_result_id
        and split.question = answers.question
        and split.part_number = answers.part_number
    where split.tool_result_id is null
    union all
    select answers.tool_use_id, answers.tool_result_id, answers.message_id, answers.question, chosen.label, 'answer'
    from split
    cross join answers
        on answers.tool_result_id = split.tool_result_id
        and answers.question = split.question
        and answers.part_number = split.part_number
    cross join chosen
        on chosen.tool_result_id = split.tool_result_id
        and chosen.question = split.question
        and chosen.part_number = split.part_number
    union all
    -- A note may repeat the answer.
    select results.tool_use_id, results.tool_result_id, results.message_id, notes.key, json_extract(notes.value, '$.notes'), 'note'
    from results
    cross join json_each(results.details_json, '$.annotations') as notes
    where json_type(results.details_json, '$.annotations') = 'object'
        and notes.type = 'object'
        and json_type(notes.value, '$.notes') = 'text'
        and not exists (
            select 1
            from answers
            where answers.tool_result_id = results.tool_result_id
                and answers.question = notes.key
                and trim(answers.reply) = trim(json_extract(notes.value, '$.notes'))
        )
    union all
    select tool_use_id, tool_result_id, message_id, null, json_extract(details_json, '$.response'), 'response'
    from results
    where json_type(details_json, '$.response') = 'text'
)

select
    carriers.session_id,
    carriers.agent_run_id,
    replies.message_id, -- that has the reply
    replies.tool_use_id,
    questions.question_number,
    replies.question,
    questions.header,
    replies.reply,
    replies.kind, -- answer, note or response
    exists (
        select 1
        from options
        where options.tool_use_id = replies.tool_use_id
            and options.question = replies.question
            and options.label = replies.reply
    ) as is_option, -- otherwise the person's own words
    questions.is_multi_select,
    carriers.sent_at as replied_at
from replies
join messages as carriers on carriers.message_id = replies.message_id
left join questions on questions.tool_use_id = replies.tool_use_id and questions.question = replies.question
where trim(replies.reply) <> ''

union all

select
    messages.session_id, messages.agent_run_id, null, questions.tool_use_id, questions.question_number, questions.question,
    questions.header, null, null, null, questions.is_multi_select, null
from questions
join messages on messages.message_id = questions.asked_message_id
where not exists (
    select 1
    from replies
    where replies.tool_use_id = questions.tool_use_id
        and (replies.question = questions.question or replies.question is null)
        and trim(replies.reply) <> ''
);
