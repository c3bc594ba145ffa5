-- Runs of lines. If a gateway repeats response ids and records no request ids, consecutive lines of a file are one response as
-- long as their input and cache tokens are equal and no prompt is between them. Tool results may be between the lines of a
-- response; but if all tokens are 0, equal tokens prove nothing, and a tool result ends the run.
--
-- The loader makes each such line its own response. This script assigns all lines of a run to the response of the first line,
-- with the copies of these lines in other files.

-- Files whose runs may have changed.
create temp table run_files (file_id integer primary key);

insert or ignore into run_files (file_id)
select usage_lines.file_id
from touched_responses
cross join usage_lines using (api_response_id)
where usage_lines.run_uuid is not null
union
select messages.file_id
from touched_messages
cross join messages using (message_id)
where exists (select 1 from usage_lines where usage_lines.run_uuid is not null)
union
select message_copies.file_id
from touched_messages
cross join message_copies using (message_id)
where exists (select 1 from usage_lines where usage_lines.run_uuid is not null);

-- The lines whose run may have changed, and the files with copies of them.
create temp table run_uuids (run_uuid text primary key) without rowid;

insert or ignore into run_uuids (run_uuid)
select usage_lines.run_uuid
from run_files
cross join usage_lines using (file_id)
where usage_lines.run_uuid is not null;

insert or ignore into run_files (file_id)
select usage_lines.file_id
from run_uuids
cross join usage_lines using (run_uuid);

-- Every line of a run with the first line of its run in the same file.
create temp table run_lines as
with lines as (
    select
        usage_lines.usage_line_id,
        usage_lines.api_response_id,
        usage_lines.message_id,
        usage_lines.file_id,
        usage_lines.line_number,
        usage_lines.byte_offset,
        usage_lines.run_uuid,
        usage_lines.is_progress,
        usage_lines.is_sidechain,
        usage_lines.sent_at,
        api_responses.api_message_id,
        coalesce(usage_lines.input_tokens, 0) as input_tokens,
        coalesce(usage_lines.cache_write_tokens, 0) as cache_write_tokens,
        coalesce(usage_lines.cache_read_tokens, 0) as cache_read_tokens,
        -- Separate sequences: the conversation, its sidechain, and the progress records of each agent.
        json_array(
            usage_lines.file_id, usage_lines.session_id, usage_lines.is_progress, usage_lines.is_sidechain,
            case when usage_lines.is_progress then usage_lines.agent_run_id end
        ) as strand
    from run_files
    cross join usage_lines using (file_id)
    cross join api_responses using (api_response_id)
),

pairs as (
    select
        lines.*,
        lag(line_number) over strands as previous_line_number,
        (api_message_id, run_uuid is null, input_tokens, cache_write_tokens, cache_read_tokens) = (
            lag(api_message_id) over strands, lag(run_uuid) over strands is null, lag(input_tokens) over strands,
            lag(cache_write_tokens) over strands, lag(cache_read_tokens) over strands
        ) as is_equal
    from lines
    window strands as (partition by strand order by byte_offset)
),

numbered as (
    select
        pairs.*,
        sum(
            is_equal is not 1
            or exists (
                select 1
                from (
                    select messages.type, messages.prompt_kind, messages.is_sidechain
                    from messages
                    where messages.file_id = pairs.file_id
                        and messages.line_number > pairs.previous_line_number
                        and messages.line_number < pairs.line_number
                    union all
                    select messages.type, messages.prompt_kind, messages.is_sidechain
                    from message_copies
                    cross join messages using (message_id)
                    where message_copies.file_id = pairs.file_id
                        and message_copies.line_number > pairs.previous_line_number
                        and message_copies.line_number < pairs.line_number
                ) as between_lines
                where not pairs.is_progress
                    and between_lines.type = 'user'
                    and coalesce(between_lines.is_sidechain, 0) = pairs.is_sidechain
                    and (
                        between_lines.prompt_kind is not 'tool_result'
                        or pairs.input_tokens + pairs.cache_write_tokens + pairs.cache_read_tokens = 0
                    )
            )
        ) over (partition by strand order by byte_offset) as run_number
    from pairs
)

select
    usage_line_id, api_response_id, message_id, file_id, byte_offset, run_uuid, is_progress, sent_at, api_message_id,
    first_value(run_uuid) over (partition by strand, run_number order by byte_offset) as first_run_uuid
from numbered
where run_uuid is not null;

-- The run of a line in several files: from its own line before progress records, then the earliest, then the smallest path.
create temp table run_names (
    api_message_id text,
    run_uuid text,
    id_scope text,
    primary key (api_message_id, run_uuid)
) without rowid;

insert into run_names (api_message_id, run_uuid, id_scope)
select api_message_id, run_uuid, 'run:' || first_run_uuid
from (
    select
        run_lines.*,
        row_number() over (
            partition by run_lines.api_message_id, run_lines.run_uuid
            order by
                run_lines.is_progress, run_lines.sent_at is null, run_lines.sent_at, files.path, sources.machine_id,
                sources.root_path, files.generation, run_lines.byte_offset
        ) as place
    from run_lines
    cross join files using (file_id)
    cross join sources using (source_id)
)
where place = 1
    and run_uuid in (select run_uuid from run_uuids);

create temp table moved_lines as
select
    run_lines.usage_line_id, run_lines.api_response_id, run_lines.message_id, run_lines.file_id, run_lines.byte_offset,
    run_lines.is_progress, run_names.api_message_id, run_names.id_scope
from run_names
cross join run_lines using (api_message_id, run_uuid)
cross join api_responses using (api_response_id)
where api_responses.id_scope <> run_names.id_scope;

insert into api_responses (api_message_id, id_scope, kind)
select distinct api_message_id, id_scope, 'message'
from moved_lines
where true
on conflict (api_message_id, id_scope, kind) do nothing;

create temp table new_responses as
select moved_lines.*, api_responses.api_response_id as new_api_response_id
from moved_lines
cross join api_responses
    on api_responses.api_message_id = moved_lines.api_message_id
    and api_responses.id_scope = moved_lines.id_scope
    and api_responses.kind = 'message';

create unique index temp.new_responses_by_line on new_responses (usage_line_id);

insert or ignore into touched_responses (api_response_id)
select api_response_id
from new_responses
union
select new_api_response_id
from new_responses;

insert or ignore into touched_sessions (session_id)
select api_responses.session_id
from touched_responses
cross join api_responses using (api_response_id)
where api_responses.id_scope >= 'run:'
    and api_responses.session_id is not null;

update usage_lines
set api_response_id = new_responses.new_api_response_id
from new_responses
where new_responses.usage_line_id = usage_lines.usage_line_id
    and usage_lines.usage_line_id in (select usage_line_id from new_responses);

update messages
set api_response_id = new_responses.new_api_response_id
from new_responses
where new_responses.message_id = messages.message_id
    and new_responses.file_id = messages.file_id
    and new_responses.byte_offset = messages.byte_offset
    and not new_responses.is_progress;

-- Responses without lines, with their advisors.
delete from api_responses
where (api_response_id in (select api_response_id from new_responses)
        or parent_api_response_id in (select api_response_id from new_responses))
    and not exists (
        select 1
        from usage_lines
        where usage_lines.api_response_id = coalesce(api_responses.parent_api_response_id, api_responses.api_response_id)
    );

drop table new_responses;
drop table moved_lines;
drop table run_names;
drop table run_lines;
drop table run_uuids;
drop table run_files;
