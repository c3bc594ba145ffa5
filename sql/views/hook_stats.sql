create view hook_stats as
-- One row per hook event, command and machine.
with records as (
    select
        message_id,
        coalesce(source_tool_use_id, uuid) as run_id, -- of all hooks of one event
        'attachment' as record,
        json_extract(extra_json, '$.attachment.hookEvent') as hook_event,
        coalesce(
            json_extract(extra_json, '$.attachment.command'),
            json_extract(extra_json, '$.attachment.blockingError.command'),
            json_extract(extra_json, '$.attachment.hookName')
        ) as command,
        json_extract(extra_json, '$.attachment.durationMs') as duration_ms,
        subtype in ('hook_non_blocking_error', 'hook_error_during_execution') as is_error,
        subtype = 'hook_blocking_error' as is_block,
        subtype = 'hook_cancelled' as is_cancelled,
        sent_at
    from messages
    where subtype in (
        'hook_success', 'hook_non_blocking_error', 'hook_blocking_error', 'hook_error_during_execution', 'hook_cancelled'
    )
    union all
    -- Versions 2.1.9 to 2.1.63 record that a hook runs, but not how it ends.
    select
        message_id,
        coalesce(source_tool_use_id, uuid),
        'progress',
        json_extract(extra_json, '$.data.hookEvent'),
        json_extract(extra_json, '$.data.command'),
        null, 0, 0, 0,
        sent_at
    from messages
    where subtype = 'hook_progress'
    union all
    select
        messages.message_id,
        coalesce(messages.source_tool_use_id, messages.uuid),
        'summary',
        'Stop',
        json_extract(hooks.value, '$.command'),
        json_extract(hooks.value, '$.durationMs'),
        0,
        json_extract(messages.extra_json, '$.preventedContinuation') is 1,
        0,
        messages.sent_at
    from messages
    join json_each(messages.extra_json, '$.hookInfos') as hooks
    where messages.subtype = 'stop_hook_summary'
        and hooks.type = 'object'
),

-- Records of several kinds can describe one run. They have the same id: match the first of each kind, then the second.
numbered as (
    select
        records.*,
        (
            select _message_machines.machine from _message_machines where _message_machines.message_id = records.message_id
        ) as machine,
        row_number() over (partition by run_id, hook_event, command, record order by sent_at) as run_number
    from records
),

runs as (
    select
        hook_event,
        command,
        min(machine) as machine,
        max(duration_ms) as duration_ms,
        max(is_error) as is_error,
        max(is_block) as is_block,
        max(is_cancelled) as is_cancelled,
        min(sent_at) as sent_at
    from numbered
    group by run_id, hook_event, command, run_number
)

select
    hook_event,
    command,
    machine,
    count(*) as run_count,
    count(duration_ms) as timed_count, -- runs with a known duration
    sum(is_error) as error_count,
    sum(is_block) as block_count,
    sum(is_cancelled) as cancelled_count,
    cast(avg(duration_ms) as integer) as mean_duration_ms,
    max(duration_ms) as max_duration_ms,
    cast(sum(cast(duration_ms as real)) as integer) as total_duration_ms, -- as real, which does not overflow
    min(sent_at) as first_run_at,
    max(sent_at) as last_run_at
from runs
group by hook_event, command, machine;
