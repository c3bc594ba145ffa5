-- name: find_sessions
-- The sessions whose id begins with ?1; without any, those whose title contains it, the latest first. Empty ones are omitted.
with by_id as (
    select session_id, title, started_at
    from sessions
    where substr(session_id, 1, length(?1)) = ?1 and not is_empty
)

select session_id, title from by_id
union all
select session_id, title
from (
    select session_id, title
    from sessions
    where not exists (select 1 from by_id) and not is_empty
        and instr(lower(title), lower(?1)) > 0
    order by started_at desc
)

-- name: last_session
select session_id
from sessions
where started_at is not null
order by ended_at desc, session_id
limit 1

-- name: show_agents
select agent_run_id, agent_id, agent_type, description, status, spawned_by_tool_use_id
from agents
where session_id = :session
order by started_at, agent_id

-- name: show_blocks
select
    content_blocks.message_id,
    content_blocks.position,
    content_blocks.type,
    case when content_blocks.type <> 'tool_use' then coalesce(messages.prompt_text, content_blocks.text) end as text,
    content_blocks.media_type,
    tool_uses.tool_use_id,
    tool_uses.name,
    -- A file of the folder of work is named from there.
    coalesce(
        tool_uses.command,
        iif(
            instr(tool_uses.file_path, messages.cwd || '/') = 1,
            substr(tool_uses.file_path, length(messages.cwd) + 2),
            tool_uses.file_path
        ),
        tool_uses.pattern, tool_uses.url, tool_uses.query, tool_uses.description, tool_uses.skill
    ) as what,
    tool_uses.change_kind,
    tool_uses.input_json,
    json_extract(tool_results.details_json, '$.structuredPatch') as patch_json,
    tool_calls.outcome,
    tool_calls.outcome_group,
    tool_results.denial_reason,
    tool_results.content as result
from messages
join content_blocks on content_blocks.message_id = messages.message_id
left join tool_uses on tool_uses.block_id = content_blocks.block_id
left join tool_calls on tool_calls.tool_use_id = tool_uses.tool_use_id
left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
where messages.session_id = :session
    and messages.type <> 'progress'
    and content_blocks.part_number = 0
order by content_blocks.message_id, content_blocks.position

-- name: show_changed_files
select file_path, sum(lines_added) as lines_added, sum(lines_removed) as lines_removed
from _file_change_parts
where session_id = :session
group by file_path
order by sum(lines_added) + sum(lines_removed) desc, file_path

-- name: show_messages
-- The messages of a session in reading order, without what only tells of progress.
select
    messages.message_id, messages.uuid, messages.agent_run_id, messages.type, messages.subtype, messages.prompt_kind,
    messages.machine_kind, messages.model, messages.is_meta, messages.sent_at,
    strftime('%Y-%m-%d %H:%M', messages.sent_at, (
        select utc_offset from time_zone_offsets where begins_at <= messages.sent_at order by begins_at desc limit 1
    )) as sent_at_local
from messages
join files using (file_id)
where messages.session_id = :session
    and messages.type <> 'progress'
    and (messages.type <> 'attachment' or messages.prompt_kind is not null)
    and coalesce(messages.subtype, '') not in ('turn_duration', 'stop_hook_summary')
order by messages.sent_at, files.path, messages.line_number, messages.byte_offset, messages.uuid

-- name: show_session
select
    *,
    strftime('%Y-%m-%d %H:%M', started_at, (
        select utc_offset from time_zone_offsets where begins_at <= started_at order by begins_at desc limit 1
    )) as started_at_local,
    (select value from settings where setting = 'time_zone') as time_zone
from session_overview
where session_id = :session

-- name: show_turn_costs
select message_id, cost_usd
from turns
where session_id = :session
