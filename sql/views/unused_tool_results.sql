create view unused_tool_results as
-- One row per file or page of 10,000 bytes or more that was read, and of which no name occurs in anything that the session or agent
-- said, thought or called afterwards. A name is a word of eight letters or more with a capital, an underscore, a dot or a hyphen
-- inside. What a command or a search returned may be used without naming any of it, so it is never a row.
with results as materialized ( -- in rowid order, because tool_results has long rows
    select
        tool_results.tool_result_id,
        tool_results.tool_use_id,
        tool_results.message_id,
        tool_results.byte_length
    from tool_results
    where tool_results.byte_length >= 10000
        and tool_results.outcome = 'ok'
),

large as materialized (
    select
        results.tool_result_id,
        tool_uses.tool_use_id,
        tool_uses.name,
        coalesce(tool_uses.command, tool_uses.file_path, tool_uses.pattern, tool_uses.url, tool_uses.query, tool_uses.description) as what,
        results.byte_length as result_bytes,
        messages.message_id,
        messages.session_id,
        messages.agent_run_id,
        messages.file_id,
        messages.line_number,
        messages.sent_at as called_at,
        answers.sent_at as answered_at,
        -- A full compaction removes it from the context.
        coalesce(
            (
                select min(summaries.sent_at)
                from messages as summaries indexed by messages_by_prompt
                where summaries.prompt_kind = 'compact_summary'
                    and summaries.session_id = messages.session_id
                    and summaries.agent_run_id is messages.agent_run_id
                    and summaries.sent_at > answers.sent_at
            ),
            '~'
        ) as compacted_at
    from results
    join tool_uses on tool_uses.tool_use_id = results.tool_use_id and tool_uses.tool_result_id = results.tool_result_id
    join messages on messages.message_id = tool_uses.message_id
    join messages as answers on answers.message_id = results.message_id
    where tool_uses.name in ('Read', 'WebFetch')
        and messages.session_id is not null
),

-- Those that were in the context of some later responses.
carried as materialized (
    select
        large.*,
        (
            select count(distinct messages.api_response_id)
            from messages indexed by messages_by_session
            where messages.session_id = large.session_id
                and messages.sent_at > large.answered_at
                and messages.sent_at < large.compacted_at
                and messages.agent_run_id is large.agent_run_id
        ) as later_response_count
    from large
),

-- The words of a result as a list in JSON: escapes of JSON and punctuation separate words. In steps, because SQLite limits how deep
-- calls are nested.
texts as (
    select
        carried.*,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(
            json_quote(tool_results.content),
            '\\', ' '), '\"', ' '), '\n', ' '), '\t', ' '), '\r', ' '), ',', ' '), ':', ' '), ';', ' '), '/', ' ') as content
    from carried
    join tool_results on tool_results.tool_result_id = carried.tool_result_id
    where carried.later_response_count >= 5
),

plain_texts as (
    select
        texts.*,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(
            texts.content,
            '(', ' '), ')', ' '), '{', ' '), '}', ' '), '[', ' '), ']', ' '), '<', ' '), '>', ' '), '=', ' ') as plain_content
    from texts
),

blank_texts as (
    select
        plain_texts.*,
        replace(replace(replace(replace(replace(replace(replace(
            plain_content,
            '+', ' '), '*', ' '), '|', ' '), '''', ' '), '`', ' '), '    ', ' '), '  ', ' ') as blank_content
    from plain_texts
),

-- Each word as a whole, such as that of a file, and its parts around dots and hyphens.
listed as (
    select
        blank_texts.*,
        '[' || replace(blank_content, ' ', '","') || ',' || replace(replace(replace(blank_content, '.', ' '), '-', ' '), ' ', '","') || ']'
            as words
    from blank_texts
)

select
    listed.tool_use_id,
    listed.session_id,
    listed.agent_run_id,
    projects.name as project,
    listed.message_id,
    listed.file_id, -- the line of the call
    listed.line_number,
    listed.name,
    listed.what, -- command, path, pattern or the like
    listed.result_bytes,
    listed.later_response_count, -- responses that had it in their context
    date(listed.called_at, (
        select utc_offset from time_zone_offsets where begins_at <= listed.called_at order by begins_at desc limit 1
    )) as called_date, -- local
    listed.called_at
from listed
left join sessions on sessions.session_id = listed.session_id
left join projects on projects.project_id = sessions.project_id
where not exists (
        select 1
        from (
            -- What was said, thought and called afterwards.
            select group_concat(coalesce(content_blocks.text, tool_uses.input_json), ' ') as text
            from messages indexed by messages_by_session
            cross join content_blocks on content_blocks.message_id = messages.message_id
            left join tool_uses on tool_uses.block_id = content_blocks.block_id
            where messages.session_id = listed.session_id
                and messages.sent_at > listed.called_at
                and messages.agent_run_id is listed.agent_run_id
                and messages.type = 'assistant'
        ) as later
        cross join json_each(listed.words) as words
        where length(words.value) >= 8
            and (words.value glob '*[a-z][A-Z]*' or words.value glob '*[a-zA-Z][-._][a-zA-Z]*')
            and instr(later.text, words.value) > 0
    )
    -- With few names, it says nothing that none occurs.
    and (
        select count(distinct words.value)
        from json_each(listed.words) as words
        where length(words.value) >= 8
            and (words.value glob '*[a-z][A-Z]*' or words.value glob '*[a-zA-Z][-._][a-zA-Z]*')
    ) >= 20;
