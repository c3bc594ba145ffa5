-- Code blocks in responses
-- How to read: every fenced block, with its language; several blocks of one response are numbered.
-- Group: conversation
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
with responses as (
    select
        content_blocks.block_id, content_blocks.position, content_blocks.text, messages.sent_at, messages.session_id, messages.uuid,
        projects.name as project
    from content_blocks
    join messages on messages.message_id = content_blocks.message_id
    left join sessions on sessions.session_id = messages.session_id
    left join projects on projects.project_id = sessions.project_id
    where messages.type = 'assistant'
        and content_blocks.type = 'text'
        and content_blocks.text like '%```%'
        and coalesce(projects.name, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
),

-- The text as a JSON list of lines. Backslashes are taken out meanwhile, so that those of JSON's own escapes are the only ones.
lines as materialized (
    select
        responses.block_id,
        line.key as line_number,
        replace(line.value, char(0xe000), '\') as line
    from responses
    join json_each('[' || replace(
        json_quote(replace(replace(responses.text, '\', char(0xe000)), char(10), char(30))), '\u001e', '","'
    ) || ']') as line
),

-- Lines that begin with three backticks or more: the number of backticks, and what follows them.
fences as materialized (
    select
        block_id, line_number,
        length(fence) - length(ltrim(fence, '`')) as tick_count,
        trim(ltrim(fence, '`')) as after,
        row_number() over (partition by block_id order by line_number) as place
    from (
        select block_id, line_number, ltrim(rtrim(line, ' ' || char(9) || char(13)), ' >' || char(9)) as fence
        from lines
        where line like '%```%'
    )
    where fence like '```%'
),

-- A fence opens a block unless one is open; it closes the open one if it is as long and nothing follows it.
walk as (
    select
        block_id, place, line_number as opened_at, null as closed_at, tick_count as open_ticks, after as language,
        instr(after, '`') = 0 as is_open, 0 as is_closed
    from fences
    where place = 1
    union all
    select
        fences.block_id, fences.place,
        case when walk.is_open then walk.opened_at else fences.line_number end,
        fences.line_number,
        case when walk.is_open then walk.open_ticks else fences.tick_count end,
        case when walk.is_open then walk.language else fences.after end,
        case
            when walk.is_open then not (fences.after = '' and fences.tick_count >= walk.open_ticks)
            else instr(fences.after, '`') = 0
        end,
        walk.is_open and fences.after = '' and fences.tick_count >= walk.open_ticks
    from walk
    join fences on fences.block_id = walk.block_id and fences.place = walk.place + 1
),

-- A block that nothing closes goes on to the end of the text.
blocks as (
    select block_id, opened_at, closed_at, language
    from walk
    where is_closed
    union all
    select block_id, opened_at, 1e9, language
    from walk
    where is_open
        and place = (select max(fences.place) from fences where fences.block_id = walk.block_id)
)

select
    responses.sent_at,
    responses.project,
    row_number() over (partition by responses.block_id order by blocks.opened_at) as block_number,
    blocks.language,
    (
        select group_concat(line, char(10))
        from (
            select lines.line
            from lines
            where lines.block_id = blocks.block_id
                and lines.line_number > blocks.opened_at
                and lines.line_number < blocks.closed_at
            order by lines.line_number
        )
    ) as code,
    responses.session_id,
    responses.uuid
from blocks
join responses using (block_id)
order by responses.sent_at desc, responses.uuid, responses.position, blocks.opened_at
limit coalesce(nullif(:limit, ''), 20);
