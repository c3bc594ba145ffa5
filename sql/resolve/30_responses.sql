-- Searches are told by the results of WebSearch calls, which may come later than the response.
insert or ignore into touched_responses (api_response_id)
select messages.api_response_id
from touched_tool_uses
cross join tool_uses using (tool_use_id)
cross join messages using (message_id)
where messages.api_response_id is not null and tool_uses.name = 'WebSearch';

-- A response may leave one session for another.
insert or ignore into touched_sessions (session_id)
select api_responses.session_id
from touched_responses
cross join api_responses using (api_response_id)
where api_responses.session_id is not null;

-- One response, many lines: the line that is counted, and the earliest one. The rule is on the set of lines, so the order
-- of their arrival does not matter.
create temp table response_lines as
select
    usage_lines.usage_line_id,
    usage_lines.api_response_id,
    row_number() over (
        partition by usage_lines.api_response_id
        order by
            usage_lines.is_sidechain, -- a replay in a sidechain never wins over the conversation itself
            coalesce(usage_lines.output_tokens, -1) desc, -- early lines have a placeholder
            coalesce(usage_lines.input_tokens, 0) + coalesce(usage_lines.cache_write_tokens, 0)
                + coalesce(usage_lines.cache_read_tokens, 0) desc,
            usage_lines.is_progress, -- the agent's own line before what its parent saw of it
            usage_lines.speed is null, -- early lines of some versions lack it
            usage_lines.line_number desc,
            usage_lines.byte_offset desc,
            files.path, sources.machine, sources.root_path, files.generation
    ) as counting_rank,
    row_number() over (
        partition by usage_lines.api_response_id
        order by
            usage_lines.sent_at is null, usage_lines.sent_at,
            usage_lines.is_progress,
            files.path, sources.machine, sources.root_path, files.generation, usage_lines.byte_offset
    ) as age_rank
from touched_responses
cross join usage_lines using (api_response_id)
cross join files using (file_id)
cross join sources using (source_id);

create index temp.response_lines_by_response on response_lines (api_response_id, counting_rank);

update api_responses
set
    request_id = counted.request_id,
    model = counted.model,
    service_tier = counted.service_tier,
    speed = counted.speed,
    inference_geo = counted.inference_geo,
    input_tokens = counted.input_tokens,
    output_tokens = counted.output_tokens,
    cache_write_tokens = counted.cache_write_tokens,
    cache_write_5m_tokens = counted.cache_write_5m_tokens,
    cache_write_1h_tokens = counted.cache_write_1h_tokens,
    cache_read_tokens = counted.cache_read_tokens,
    thinking_tokens = counted.thinking_tokens,
    web_search_count = counted.web_search_count,
    recorded_cost_usd = counted.recorded_cost_usd,
    visible_char_count = (
        -- All lines of the response in the same file; copies elsewhere say the same again.
        select sum(visible_char_count)
        from (
            select max(usage_lines.visible_char_count) as visible_char_count
            from usage_lines
            where usage_lines.api_response_id = counted.api_response_id
                and usage_lines.file_id = counted.file_id
                and usage_lines.is_progress = counted.is_progress
            group by usage_lines.message_id
        )
    ),
    message_id = earliest.message_id,
    session_id = earliest.session_id,
    agent_key = earliest.agent_key,
    responded_at = earliest.sent_at,
    line_count = (
        select count(*) from response_lines where response_lines.api_response_id = counted.api_response_id
    ),
    stop_reason = (
        select usage_lines.stop_reason
        from response_lines
        cross join usage_lines using (usage_line_id)
        where response_lines.api_response_id = counted.api_response_id and usage_lines.stop_reason is not null
        order by response_lines.counting_rank
        limit 1
    )
from response_lines as first_line
cross join usage_lines as counted on counted.usage_line_id = first_line.usage_line_id
cross join response_lines as oldest_line
    on oldest_line.api_response_id = first_line.api_response_id and oldest_line.age_rank = 1
cross join usage_lines as earliest on earliest.usage_line_id = oldest_line.usage_line_id
where first_line.counting_rank = 1
    and first_line.api_response_id = api_responses.api_response_id;

-- Claude Code's own searches run in calls of their own, and the usage says 0 of them.
update api_responses
set web_search_count = searched.search_count
from (
    select messages.api_response_id, sum(web_requests.search_count) as search_count
    from touched_responses
    cross join messages using (api_response_id)
    cross join tool_uses using (message_id)
    cross join tool_results on tool_results.tool_use_id = tool_uses.tool_use_id
    cross join web_requests using (tool_result_id)
    where tool_uses.name = 'WebSearch'
    group by messages.api_response_id
) as searched
where searched.api_response_id = api_responses.api_response_id
    and coalesce(api_responses.web_search_count, 0) = 0;

-- How far the output can be trusted.
update api_responses
set
    usage_quality = judged.usage_quality,
    estimated_output_tokens = case
        -- From about 2.1.100 on thinking is no longer written down, and the text tells too little.
        when judged.usage_quality <> 'final' and judged.version_number < 2001100
            then cast((judged.visible_char_count * 10 + 33) / 34 as integer)
    end
from (
    select
        versioned.api_response_id, versioned.visible_char_count, versioned.version_number,
        case
            when versioned.visible_char_count > 400 and versioned.visible_char_count > 15 * versioned.output_tokens
                then 'placeholder'
            when versioned.stop_reason is null
                and (versioned.output_tokens <= 12 or versioned.version_number between 2001009 and 2001052)
                then 'suspect'
            else 'final'
        end as usage_quality
    from (
        select
            api_responses.api_response_id, api_responses.stop_reason,
            coalesce(api_responses.visible_char_count, 0) as visible_char_count,
            coalesce(api_responses.output_tokens, 0) as output_tokens,
            coalesce(version_number(messages.version), 0) as version_number
        from touched_responses
        cross join api_responses using (api_response_id)
        cross join messages using (message_id)
    ) as versioned
) as judged
where judged.api_response_id = api_responses.api_response_id
    and api_responses.api_response_id in (select api_response_id from touched_responses);

-- An advisor that was asked within a response is an answer of its own, with its own model.
delete from api_responses
where kind = 'advisor'
    and parent_api_response_id in (select api_response_id from touched_responses);

create temp table advisor_tokens as
select
    usage_lines.api_response_id,
    iterations.key as iteration_number,
    json_extract(iterations.value, '$.model') as model,
    -- What is no whole number counts as not said.
    case json_type(iterations.value, '$.input_tokens')
        when 'integer' then json_extract(iterations.value, '$.input_tokens')
    end as input_tokens,
    case json_type(iterations.value, '$.output_tokens')
        when 'integer' then json_extract(iterations.value, '$.output_tokens')
    end as output_tokens,
    case json_type(iterations.value, '$.cache_creation_input_tokens')
        when 'integer' then json_extract(iterations.value, '$.cache_creation_input_tokens')
    end as cache_write_tokens,
    case json_type(iterations.value, '$.cache_creation.ephemeral_5m_input_tokens')
        when 'integer' then json_extract(iterations.value, '$.cache_creation.ephemeral_5m_input_tokens')
    end as cache_write_5m_tokens,
    case json_type(iterations.value, '$.cache_creation.ephemeral_1h_input_tokens')
        when 'integer' then json_extract(iterations.value, '$.cache_creation.ephemeral_1h_input_tokens')
    end as cache_write_1h_tokens,
    case json_type(iterations.value, '$.cache_read_input_tokens')
        when 'integer' then json_extract(iterations.value, '$.cache_read_input_tokens')
    end as cache_read_tokens
from response_lines
cross join usage_lines using (usage_line_id)
cross join json_each(usage_lines.extra_json, '$.iterations') as iterations
where response_lines.counting_rank = 1
    and json_type(usage_lines.extra_json, '$.iterations') = 'array'
    and iterations.type = 'object'
    and json_extract(iterations.value, '$.type') = 'advisor_message';

insert into api_responses (
    api_message_id, parent_api_response_id, message_id, session_id, agent_key, kind, request_id, model, service_tier, speed,
    inference_geo, usage_quality, input_tokens, output_tokens, cache_write_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, cache_read_tokens, line_count, responded_at
)
select
    api_responses.api_message_id || '#' || tokens.iteration_number,
    api_responses.api_response_id,
    api_responses.message_id,
    api_responses.session_id,
    api_responses.agent_key,
    'advisor',
    api_responses.request_id,
    coalesce(tokens.model, api_responses.model),
    api_responses.service_tier,
    api_responses.speed,
    api_responses.inference_geo,
    'final',
    tokens.input_tokens,
    tokens.output_tokens,
    max(
        coalesce(tokens.cache_write_tokens, 0),
        coalesce(tokens.cache_write_5m_tokens, 0) + coalesce(tokens.cache_write_1h_tokens, 0)
    ),
    tokens.cache_write_5m_tokens,
    tokens.cache_write_1h_tokens,
    tokens.cache_read_tokens,
    api_responses.line_count,
    api_responses.responded_at
from advisor_tokens as tokens
join api_responses using (api_response_id);

drop table advisor_tokens;

update usage_lines
set
    is_counted = verdict.is_counted,
    duplicate_reason = verdict.duplicate_reason
from (
    select
        line.usage_line_id,
        line.usage_line_id = counted.usage_line_id as is_counted,
        case
            when line.usage_line_id = counted.usage_line_id then null
            when line.is_progress then 'progress_echo'
            when line.file_id = counted.file_id and line.message_id = counted.message_id then 'same_file_replay'
            when line.file_id = counted.file_id then 'streaming'
            when line_file.source_id = counted_file.source_id and line_file.path = counted_file.path
                then 'rewritten_file'
            when line.is_sidechain then 'sidechain_replay'
            when line.is_fork then 'fork_copy'
            else 'resume_copy'
        end as duplicate_reason
    from response_lines
    cross join usage_lines as line using (usage_line_id)
    cross join files as line_file on line_file.file_id = line.file_id
    cross join response_lines as first
        on first.api_response_id = response_lines.api_response_id and first.counting_rank = 1
    cross join usage_lines as counted on counted.usage_line_id = first.usage_line_id
    cross join files as counted_file on counted_file.file_id = counted.file_id
) as verdict
where verdict.usage_line_id = usage_lines.usage_line_id
    and (
        usage_lines.is_counted is not verdict.is_counted
        or usage_lines.duplicate_reason is not verdict.duplicate_reason
    );

drop table response_lines;

-- The name that a model is priced by, of every model that a line names.
insert into model_aliases (model_name, model, origin)
select named.model, priced_model(named.model), 'builtin'
from (
    select usage_lines.model
    from touched_responses
    cross join usage_lines using (api_response_id)
    union
    select json_extract(iterations.value, '$.model')
    from touched_responses
    cross join usage_lines using (api_response_id)
    cross join json_each(usage_lines.extra_json, '$.iterations') as iterations
    where json_type(usage_lines.extra_json, '$.iterations') = 'array'
        and iterations.type = 'object'
) as named
where typeof(named.model) = 'text'
on conflict (model_name) do nothing;
