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
            usage_lines.speed is null, -- early lines of some versions lack it
            usage_lines.line_number desc,
            usage_lines.byte_offset desc,
            files.path, sources.machine, sources.root_path, files.generation
    ) as counting_rank,
    row_number() over (
        partition by usage_lines.api_response_id
        order by
            usage_lines.sent_at is null, usage_lines.sent_at,
            usage_lines.is_progress, -- the agent's own line before what its parent saw of it
            files.path, sources.machine, sources.root_path, files.generation, usage_lines.byte_offset
    ) as age_rank
from touched_responses
join usage_lines using (api_response_id)
join files using (file_id)
join sources using (source_id);

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
    web_search_count = counted.web_search_count
from response_lines
join usage_lines as counted using (usage_line_id)
where response_lines.counting_rank = 1
    and response_lines.api_response_id = api_responses.api_response_id;

update api_responses
set
    session_id = earliest.session_id,
    agent_key = earliest.agent_key,
    responded_at = earliest.sent_at
from response_lines
join usage_lines as earliest using (usage_line_id)
where response_lines.age_rank = 1
    and response_lines.api_response_id = api_responses.api_response_id;

update api_responses
set
    line_count = (
        select count(*) from response_lines where response_lines.api_response_id = api_responses.api_response_id
    ),
    stop_reason = (
        select usage_lines.stop_reason
        from response_lines
        join usage_lines using (usage_line_id)
        where response_lines.api_response_id = api_responses.api_response_id and usage_lines.stop_reason is not null
        order by response_lines.counting_rank
        limit 1
    )
where api_response_id in (select api_response_id from touched_responses);

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
    join usage_lines as line using (usage_line_id)
    join files as line_file on line_file.file_id = line.file_id
    join response_lines as first
        on first.api_response_id = response_lines.api_response_id and first.counting_rank = 1
    join usage_lines as counted on counted.usage_line_id = first.usage_line_id
    join files as counted_file on counted_file.file_id = counted.file_id
) as verdict
where verdict.usage_line_id = usage_lines.usage_line_id;

drop table response_lines;
