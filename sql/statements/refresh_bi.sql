-- The tables for BI tools, for the sessions that were touched. What stands in no session has the key ''. A session may have
-- very many messages: they are counted in parts (sql/schema.sql), of which only those are counted again that changed.

-- The call may be in another session than its answer.
insert or ignore into touched_sessions (session_id)
select messages.session_id
from touched_tool_uses
cross join tool_uses using (tool_use_id)
cross join messages on messages.message_id = tool_uses.message_id
where messages.session_id is not null
union
select api_responses.session_id
from touched_responses
cross join api_responses using (api_response_id)
where api_responses.session_id is not null;

-- The machine that the first message of a session was recorded on.
create temp table session_machines as
select
    touched_sessions.session_id,
    (
        select min(sources.machine)
        from messages
        cross join files on files.file_id = messages.file_id
        cross join sources on sources.source_id = files.source_id
        where messages.session_id = touched_sessions.session_id
            and messages.sent_at is (
                select min(sent_at) from messages where messages.session_id = touched_sessions.session_id
            )
    ) as machine
from touched_sessions;

create index temp.session_machines_by_session on session_machines (session_id);

-- Parts with messages that are new, or changed.
create temp table touched_parts (part_number integer primary key);

insert into touched_parts (part_number)
with recursive new_parts as (
    select (last_message_id + 1) >> 8 as part_number, (select max(message_id) >> 8 from messages) as last_part_number
    from counted_rows
    where last_message_id < (select max(message_id) from messages)
    union all
    select part_number + 1, last_part_number
    from new_parts
    where part_number < last_part_number
)

select part_number
from new_parts
union
select message_id >> 8
from touched_messages;

create temp table touched_response_parts (part_number integer primary key);

insert into touched_response_parts (part_number)
with recursive new_parts as (
    select
        (last_api_response_id + 1) >> 8 as part_number,
        (select max(api_response_id) >> 8 from api_responses) as last_part_number
    from counted_rows
    where last_api_response_id < (select max(api_response_id) from api_responses)
    union all
    select part_number + 1, last_part_number
    from new_parts
    where part_number < last_part_number
)

select part_number
from new_parts
union
select api_response_id >> 8
from changed_responses;

-- Days on which something was or is.
create temp table touched_days as
select activity_date
from bi_session_days
where session_id in (select session_id from touched_sessions union all select '');

delete from response_parts
where part_number in (select part_number from touched_response_parts);

insert into response_parts (
    part_number, session_id, model, machine, response_count, input_tokens, output_tokens, estimated_output_tokens,
    cache_write_tokens, cache_read_tokens, web_search_count, unpriced_count, cost_units, estimated_cost_units,
    agent_cost_units, activity_date
)
with responses as materialized ( -- so that a cost is computed once
    select
        touched_response_parts.part_number,
        response_costs.session_id,
        response_costs.response_date,
        response_costs.model,
        response_costs.message_id,
        response_costs.agent_key,
        response_costs.input_tokens,
        response_costs.output_tokens,
        response_costs.estimated_output_tokens,
        response_costs.cache_write_tokens,
        response_costs.cache_read_tokens,
        response_costs.web_search_count,
        round(response_costs.cost_usd * 1e10) as cost_units,
        round(response_costs.estimated_cost_usd * 1e10) as estimated_cost_units
    from touched_response_parts
    cross join response_costs
        on response_costs.api_response_id
        between touched_response_parts.part_number << 8 and (touched_response_parts.part_number << 8) + 255
)

select
    responses.part_number,
    coalesce(responses.session_id, ''),
    coalesce(responses.model, ''),
    -- Mostly all homes are of one machine, and messages need not be read.
    case
        when (select count(distinct machine) from sources) = 1 then (select min(machine) from sources)
        else coalesce((
            select sources.machine
            from messages
            cross join files on files.file_id = messages.file_id
            cross join sources on sources.source_id = files.source_id
            where messages.message_id = responses.message_id
        ), '')
    end,
    count(*),
    sum(coalesce(responses.input_tokens, 0)),
    sum(coalesce(responses.output_tokens, 0)),
    sum(max(coalesce(responses.estimated_output_tokens, 0), coalesce(responses.output_tokens, 0))),
    sum(coalesce(responses.cache_write_tokens, 0)),
    sum(coalesce(responses.cache_read_tokens, 0)),
    sum(coalesce(responses.web_search_count, 0)),
    sum(responses.cost_units is null),
    sum(responses.cost_units),
    sum(responses.estimated_cost_units),
    sum(case when responses.agent_key is not null then responses.cost_units end),
    responses.response_date
from responses
group by 1, 2, responses.response_date, 3, 4;

delete from bi_session_days
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_session_days (
    session_id, activity_date, model, machine, project, response_count, input_tokens, output_tokens,
    estimated_output_tokens, cache_write_tokens, cache_read_tokens, web_search_count, unpriced_count, cost_usd,
    estimated_cost_usd, agent_cost_usd
)
select
    response_parts.session_id,
    response_parts.activity_date,
    response_parts.model,
    response_parts.machine,
    coalesce(projects.name, ''),
    sum(response_parts.response_count),
    sum(response_parts.input_tokens),
    sum(response_parts.output_tokens),
    sum(response_parts.estimated_output_tokens),
    sum(response_parts.cache_write_tokens),
    sum(response_parts.cache_read_tokens),
    sum(response_parts.web_search_count),
    sum(response_parts.unpriced_count),
    round(sum(response_parts.cost_units) / 1e10, 6),
    round(sum(response_parts.estimated_cost_units) / 1e10, 6),
    round(sum(response_parts.agent_cost_units) / 1e10, 6)
from response_parts
left join sessions on sessions.session_id = response_parts.session_id
left join projects on projects.project_id = sessions.project_id
where response_parts.session_id in (select session_id from touched_sessions union all select '')
group by 1, 2, 3, 4;

insert into touched_days (activity_date)
select activity_date
from bi_session_days
where session_id in (select session_id from touched_sessions union all select '');

delete from bi_days
where activity_date in (select activity_date from touched_days)
    or activity_date is null;

insert into bi_days (
    activity_date, model, project, machine, session_count, response_count, input_tokens, output_tokens,
    estimated_output_tokens, cache_write_tokens, cache_read_tokens, web_search_count, unpriced_count, cost_usd,
    estimated_cost_usd, agent_cost_usd, day_began_at, day_began_unix
)
select
    activity_date,
    model,
    project,
    machine,
    count(distinct session_id),
    sum(response_count),
    sum(input_tokens),
    sum(output_tokens),
    sum(estimated_output_tokens),
    sum(cache_write_tokens),
    sum(cache_read_tokens),
    sum(web_search_count),
    sum(unpriced_count),
    round(sum(cost_usd), 6),
    round(sum(estimated_cost_usd), 6),
    round(sum(agent_cost_usd), 6),
    activity_date || ' 00:00:00.000',
    unixepoch(activity_date)
from bi_session_days
where activity_date in (select activity_date from touched_days)
    or activity_date is null
group by activity_date, model, project, machine;

drop table touched_days;

delete from tool_parts
where part_number in (select part_number from touched_parts);

insert into tool_parts (
    part_number, session_id, agent_key, tool_name, mcp_server, call_count, ok_count, error_count, denied_count,
    stopped_count, pending_count, other_count, timed_count, duration_ms, result_bytes, activity_date
)
with calls as (
    select
        touched_parts.part_number,
        messages.session_id,
        messages.agent_key,
        tool_uses.name,
        tool_uses.mcp_server,
        coalesce(tool_results.outcome, 'pending') as outcome,
        coalesce(tool_results.duration_ms, tool_results.elapsed_ms) as duration_ms,
        tool_results.byte_length as result_bytes,
        substr(messages.sent_at, 1, 10) as activity_date
    from touched_parts
    cross join tool_uses
        on tool_uses.message_id between touched_parts.part_number << 8 and (touched_parts.part_number << 8) + 255
    cross join messages on messages.message_id = tool_uses.message_id
    left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
)

select
    part_number,
    coalesce(session_id, ''),
    coalesce(agent_key, 0),
    coalesce(name, ''),
    max(mcp_server),
    count(*),
    sum(outcome = 'ok'),
    sum(outcome in ('error', 'timeout', 'invalid_input')),
    sum(outcome in ('user_rejected', 'permission_denied', 'hook_blocked')),
    sum(outcome in ('interrupted', 'cancelled')),
    sum(outcome = 'pending'),
    sum(
        outcome not in (
            'ok', 'error', 'timeout', 'invalid_input', 'user_rejected', 'permission_denied', 'hook_blocked', 'interrupted',
            'cancelled', 'pending'
        )
    ),
    sum(outcome in ('ok', 'error') and coalesce(duration_ms, -1) >= 0),
    sum(case when outcome in ('ok', 'error') and duration_ms >= 0 then duration_ms else 0 end),
    sum(coalesce(result_bytes, 0)),
    activity_date
from calls
group by 1, 2, 3, 4, activity_date;

delete from bi_tools
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_tools (
    session_id, activity_date, tool_name, agent_type, mcp_server, project, machine, call_count, ok_count, error_count,
    denied_count, stopped_count, pending_count, other_count, timed_count, duration_ms, result_bytes, is_mcp, day_began_at,
    day_began_unix
)
select
    tool_parts.session_id,
    tool_parts.activity_date,
    tool_parts.tool_name,
    case tool_parts.agent_key when 0 then '' else coalesce(agents.agent_type, 'unknown') end,
    max(tool_parts.mcp_server),
    coalesce(max(projects.name), ''),
    coalesce(max(session_machines.machine), ''),
    sum(tool_parts.call_count),
    sum(tool_parts.ok_count),
    sum(tool_parts.error_count),
    sum(tool_parts.denied_count),
    sum(tool_parts.stopped_count),
    sum(tool_parts.pending_count),
    sum(tool_parts.other_count),
    sum(tool_parts.timed_count),
    sum(tool_parts.duration_ms),
    sum(tool_parts.result_bytes),
    max(tool_parts.mcp_server is not null),
    tool_parts.activity_date || ' 00:00:00.000',
    unixepoch(tool_parts.activity_date)
from tool_parts
left join agents on agents.agent_key = tool_parts.agent_key
left join sessions on sessions.session_id = tool_parts.session_id
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = tool_parts.session_id
where tool_parts.session_id in (select session_id from touched_sessions union all select '')
group by 1, 2, 3, 4;

delete from file_change_parts
where part_number in (select part_number from touched_parts);

insert into file_change_parts (part_number, session_id, file_path, lines_added, lines_removed)
select
    touched_parts.part_number,
    messages.session_id,
    file_changes.file_path,
    sum(file_changes.lines_added),
    sum(file_changes.lines_removed)
from touched_parts
cross join tool_uses indexed by tool_uses_with_changes
    on tool_uses.message_id between touched_parts.part_number << 8 and (touched_parts.part_number << 8) + 255
    and tool_uses.change_kind is not null
cross join file_changes on file_changes.tool_use_id = tool_uses.tool_use_id
cross join messages on messages.message_id = tool_uses.message_id
where messages.session_id is not null
group by 1, 2, 3;

-- The signals of the person, by the rules of the views prompts and feedback, which read those of all sessions.
create temp table said_prompts as
select
    messages.session_id, messages.agent_key, messages.message_id, null as tool_use_id, messages.prompt_kind as kind,
    coalesce(messages.type = 'attachment' or (messages.type <> 'system' and messages.prompt_source = 'queued'), 0)
        as is_queued,
    substr(coalesce(messages.prompt_text, (
        select group_concat(substr(content_blocks.text, 1, 1000000), char(10) order by content_blocks.position)
        from content_blocks
        where content_blocks.message_id = messages.message_id
            and content_blocks.type = 'text'
            and content_blocks.part_number = 0
    )), 1, 1000000) as text,
    null as question, messages.git_branch, messages.sent_at as said_at
from (select session_id from touched_sessions union all select null) as touched
cross join messages indexed by messages_by_prompt
    on messages.session_id is touched.session_id
    and messages.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note')
union all
select
    messages.session_id, messages.agent_key, messages.message_id, null, content_blocks.prompt_kind, 1,
    substr(content_blocks.text, 1, 1000000), null, messages.git_branch, messages.sent_at
from content_blocks indexed by content_blocks_beside_results
cross join messages on messages.message_id = content_blocks.message_id
where content_blocks.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note')
    and messages.prompt_kind = 'tool_result'
    and (messages.session_id is null or messages.session_id in (select session_id from touched_sessions))
union all
select
    messages.session_id, messages.agent_key, messages.message_id, tool_results.tool_use_id, 'answer', 0,
    cast(answers.value as text), answers.key, messages.git_branch, messages.sent_at
from tool_uses indexed by tool_uses_by_name
cross join tool_results on tool_results.tool_use_id = tool_uses.tool_use_id
cross join messages on messages.message_id = tool_results.message_id
cross join json_each(tool_results.details_json, '$.answers') as answers
where tool_uses.name = 'AskUserQuestion'
    and (messages.session_id is null or messages.session_id in (select session_id from touched_sessions))
    and json_type(tool_results.details_json, '$.answers') = 'object'
union all
select
    queued_prompts.session_id, null, null, null, queued_prompts.kind, 1, queued_prompts.text, null, null,
    queued_prompts.said_at
from (select session_id from touched_sessions union all select null) as touched
cross join queued_prompts on queued_prompts.session_id is touched.session_id;

create temp table signals as
with said as materialized (
    select
        said_prompts.*,
        (
            select messages.message_id
            from messages
            where messages.session_id = said_prompts.session_id
                and messages.sent_at < said_prompts.said_at
                and messages.type = 'assistant'
                and messages.agent_key is said_prompts.agent_key
            order by messages.sent_at desc
            limit 1
        ) as previous_message_id,
        lower(substr(ltrim(said_prompts.text), 1, 1000)) as beginning,
        replace(rtrim(lower(trim(said_prompts.text)), '.!,;: '), ',', '') as plain_text
    from said_prompts
)

select
    case tool_uses.name when 'ExitPlanMode' then 'plan_rejected' else 'denial' end as kind,
    carriers.session_id, carriers.agent_key, carriers.message_id, tool_uses.message_id as about_message_id,
    tool_uses.tool_use_id, tool_results.denial_reason as text, null as question, carriers.git_branch,
    carriers.sent_at as said_at, 0 as is_trivial
from tool_results indexed by tool_results_rejected
cross join messages as carriers on carriers.message_id = tool_results.message_id
left join tool_uses on tool_uses.tool_use_id = tool_results.tool_use_id
where tool_results.outcome = 'user_rejected'
    and (carriers.session_id is null or carriers.session_id in (select session_id from touched_sessions))
union all
select
    'interruption', messages.session_id, messages.agent_key, messages.message_id, messages.parent_message_id, null, null,
    null, messages.git_branch, messages.sent_at, 0
from (select session_id from touched_sessions union all select null) as touched
cross join messages indexed by messages_by_prompt
    on messages.session_id is touched.session_id
    and messages.prompt_kind = 'interrupt'
where not exists (
    select 1
    from tool_results
    where tool_results.message_id = messages.parent_message_id
        and tool_results.outcome in ('user_rejected', 'interrupted')
)
union all
select
    'interruption', carriers.session_id, carriers.agent_key, carriers.message_id, tool_uses.message_id,
    tool_uses.tool_use_id, null, null, carriers.git_branch, carriers.sent_at, 0
from tool_results indexed by tool_results_interrupted
cross join messages as carriers on carriers.message_id = tool_results.message_id
left join tool_uses on tool_uses.tool_use_id = tool_results.tool_use_id
where tool_results.outcome = 'interrupted'
    and (carriers.session_id is null or carriers.session_id in (select session_id from touched_sessions))
union all
select
    case
        when said.kind = 'answer' then 'answer'
        when said.kind = 'human'
            and said.previous_message_id is not null
            and exists (
                select 1
                from correction_phrases
                where correction_phrases.is_used
                    and correction_phrase between substr(said.beginning, 1, 1) and said.beginning -- so that few are tried
                    and substr(said.beginning, 1, length(correction_phrase)) = correction_phrase
                    and substr(said.beginning, length(correction_phrase) + 1, 1) not between 'a' and 'z'
            )
            then 'correction'
        when said.is_queued then 'queued_prompt'
        else 'prompt'
    end,
    said.session_id, said.agent_key, said.message_id, said.previous_message_id,
    case said.kind when 'answer' then said.tool_use_id end,
    said.text, said.question, said.git_branch, said.said_at,
    coalesce(
        said.kind = 'slash_command'
        or length(said.plain_text) <= 1
        or said.plain_text in (select trivial_text from trivial_texts where is_used),
        0
    )
from said;

delete from bi_feedback
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_feedback (
    session_id, signal_number, kind, tool_name, tool_use_id, model, agent_type, git_branch, project, machine, text_length,
    is_trivial, said_at, said_unix
)
select
    coalesce(signals.session_id, ''),
    row_number() over (
        partition by signals.session_id
        order by
            signals.said_at is null, signals.said_at, signals.kind, signals.tool_use_id, messages.uuid, signals.question,
            signals.text
    ),
    signals.kind,
    tool_uses.name,
    signals.tool_use_id,
    about.model,
    agents.agent_type,
    coalesce(signals.git_branch, about.git_branch),
    coalesce(projects.name, ''),
    coalesce(session_machines.machine, ''),
    coalesce(length(signals.text), 0),
    signals.is_trivial,
    replace(rtrim(signals.said_at, 'Z'), 'T', ' '),
    unixepoch(signals.said_at)
from signals
left join messages on messages.message_id = signals.message_id
left join messages as about on about.message_id = signals.about_message_id
left join tool_uses on tool_uses.tool_use_id = signals.tool_use_id
left join agents on agents.agent_key = signals.agent_key
left join sessions on sessions.session_id = signals.session_id
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = signals.session_id;

drop table signals;
drop table said_prompts;

delete from bi_sessions
where session_id in (select session_id from touched_sessions);

insert into bi_sessions (
    session_id, project, machine, title, git_branch, version, entrypoint, main_model, message_count, prompt_count,
    denial_count, correction_count, interruption_count, tool_call_count, tool_error_count, agent_count,
    changed_file_count, lines_added, lines_removed, response_count, input_tokens, output_tokens, cache_write_tokens,
    cache_read_tokens, unpriced_count, duration_s, cost_usd, estimated_cost_usd, is_background, started_at, started_unix,
    ended_at, ended_unix
)
with spoken as (
    select
        touched_sessions.session_id,
        (select count(*) from messages where messages.session_id = touched_sessions.session_id) as message_count,
        (
            select count(*)
            from messages indexed by messages_by_prompt
            where messages.session_id = touched_sessions.session_id
                and messages.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note', 'sdk_prompt')
                and messages.agent_key is null
        ) as prompt_count
    from touched_sessions
),

said as (
    select
        session_id,
        sum(kind in ('denial', 'plan_rejected')) as denial_count,
        sum(kind = 'correction') as correction_count,
        sum(kind = 'interruption') as interruption_count
    from bi_feedback
    where session_id in (select session_id from touched_sessions)
    group by session_id
),

called as (
    select session_id, sum(call_count) as tool_call_count, sum(error_count) as tool_error_count
    from bi_tools
    where session_id in (select session_id from touched_sessions)
    group by session_id
),

helped as (
    select session_id, count(*) as agent_count
    from agents
    where internal_kind is null
        and session_id in (select session_id from touched_sessions)
    group by session_id
),

changed as (
    select
        session_id,
        count(distinct file_path) as changed_file_count,
        sum(lines_added) as lines_added,
        sum(lines_removed) as lines_removed
    from file_change_parts
    where session_id in (select session_id from touched_sessions)
    group by session_id
),

used as (
    select
        session_id,
        sum(response_count) as response_count,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        sum(cache_write_tokens) as cache_write_tokens,
        sum(cache_read_tokens) as cache_read_tokens,
        sum(unpriced_count) as unpriced_count,
        round(sum(cost_usd), 6) as cost_usd,
        round(sum(estimated_cost_usd), 6) as estimated_cost_usd
    from bi_session_days
    where session_id in (select session_id from touched_sessions)
    group by session_id
)

select
    sessions.session_id,
    coalesce(projects.name, ''),
    coalesce(session_machines.machine, ''),
    sessions.title,
    sessions.git_branch,
    sessions.version,
    sessions.entrypoint,
    (
        select bi_session_days.model
        from bi_session_days
        where bi_session_days.session_id = sessions.session_id
        group by bi_session_days.model
        order by sum(bi_session_days.cost_usd) desc, sum(bi_session_days.response_count) desc, bi_session_days.model
        limit 1
    ),
    coalesce(spoken.message_count, 0),
    coalesce(spoken.prompt_count, 0),
    coalesce(said.denial_count, 0),
    coalesce(said.correction_count, 0),
    coalesce(said.interruption_count, 0),
    coalesce(called.tool_call_count, 0),
    coalesce(called.tool_error_count, 0),
    coalesce(helped.agent_count, 0),
    coalesce(changed.changed_file_count, 0),
    coalesce(changed.lines_added, 0),
    coalesce(changed.lines_removed, 0),
    coalesce(used.response_count, 0),
    coalesce(used.input_tokens, 0),
    coalesce(used.output_tokens, 0),
    coalesce(used.cache_write_tokens, 0),
    coalesce(used.cache_read_tokens, 0),
    coalesce(used.unpriced_count, 0),
    unixepoch(sessions.ended_at) - unixepoch(sessions.started_at),
    used.cost_usd,
    used.estimated_cost_usd,
    coalesce(sessions.session_kind = 'bg', 0),
    replace(rtrim(sessions.started_at, 'Z'), 'T', ' '),
    unixepoch(sessions.started_at),
    replace(rtrim(sessions.ended_at, 'Z'), 'T', ' '),
    unixepoch(sessions.ended_at)
from sessions
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = sessions.session_id
left join spoken on spoken.session_id = sessions.session_id
left join said on said.session_id = sessions.session_id
left join called on called.session_id = sessions.session_id
left join helped on helped.session_id = sessions.session_id
left join changed on changed.session_id = sessions.session_id
left join used on used.session_id = sessions.session_id
where sessions.session_id in (select session_id from touched_sessions);

update counted_rows
set
    last_message_id = (select coalesce(max(message_id), 0) from messages),
    last_api_response_id = (select coalesce(max(api_response_id), 0) from api_responses);

drop table touched_response_parts;
drop table touched_parts;
drop table session_machines;
