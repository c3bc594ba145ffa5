create view repeated_calls as
-- One row per tool call that was repeated in vain: a file read again although the same text was still in the context, or a failed
-- call that failed again although nothing had been changed in between.
with calls as materialized (
    select
        tool_uses.tool_use_id,
        tool_uses.name,
        coalesce(tool_uses.command, tool_uses.file_path, tool_uses.pattern, tool_uses.url, tool_uses.query, tool_uses.description) as what,
        coalesce(tool_uses.command, tool_uses.input_json) as input,
        tool_uses.tool_result_id,
        tool_results.byte_length as result_bytes,
        outcomes.outcome_group,
        messages.message_id,
        messages.session_id,
        messages.agent_run_id,
        messages.api_response_id,
        messages.model,
        messages.cwd,
        messages.file_id,
        messages.line_number,
        messages.byte_offset,
        messages.uuid,
        messages.sent_at as called_at
    from tool_uses
    join messages on messages.message_id = tool_uses.message_id
    join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
    join outcomes on outcomes.outcome = tool_results.outcome
    where messages.session_id is not null
        and (
            outcomes.outcome_group = 'error'
            -- A shorter result may only say that the file is unchanged.
            or (tool_uses.name = 'Read' and outcomes.outcome_group = 'ok' and tool_results.byte_length >= 1000)
        )
),

pairs as (
    select
        calls.*,
        lag(tool_use_id) over same_call as previous_tool_use_id,
        lag(tool_result_id) over same_call as previous_tool_result_id,
        lag(called_at) over same_call as previous_at
    from calls
    window same_call as (
        partition by session_id, agent_run_id, name, outcome_group, cwd, input
        order by called_at, line_number, byte_offset, uuid, tool_use_id
    )
),

repeated as (
    select
        pairs.*,
        case outcome_group when 'error' then 'retry' else 'read' end as kind
    from pairs
    where previous_tool_use_id is not null
        -- Of a command, the output may differ in its times; another tool that fails for another reason got further.
        and (
            (outcome_group = 'error' and name in ('Bash', 'PowerShell'))
            or (select content from tool_results where tool_result_id = pairs.tool_result_id)
                = (select content from tool_results where tool_result_id = pairs.previous_tool_result_id)
        )
        and not exists (
            select 1
            from messages indexed by messages_by_session
            where messages.session_id = pairs.session_id
                and messages.sent_at > pairs.previous_at
                and messages.sent_at <= pairs.called_at
                and case pairs.outcome_group
                    when 'ok' then -- a compaction, after which the text is gone
                        messages.agent_run_id is pairs.agent_run_id
                        and (
                            messages.prompt_kind = 'compact_summary'
                            or messages.subtype in ('compact_boundary', 'microcompact_boundary')
                        )
                    else -- a prompt, or a call that may have changed something
                        messages.prompt_kind in (select prompt_kind from prompt_kinds where is_prompt)
                        or (
                            messages.type = 'assistant'
                            and exists (
                                select 1
                                from tool_uses
                                left join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
                                left join outcomes on outcomes.outcome = tool_results.outcome
                                where tool_uses.message_id = messages.message_id
                                    and coalesce(outcomes.outcome_group, 'pending') not in ('error', 'denied')
                                    and tool_uses.name not in (
                                        'Read', 'NotebookRead', 'Grep', 'Glob', 'LS', 'LSP', 'WebFetch', 'WebSearch', 'ToolSearch',
                                        'TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet'
                                    )
                            )
                        )
                    end
        )
),

counted as (
    select
        repeated.*,
        count(*) over (partition by api_response_id) as repeated_count,
        (
            select count(*)
            from messages
            join tool_uses on tool_uses.message_id = messages.message_id
            where messages.api_response_id = repeated.api_response_id
        ) as call_count
    from repeated
)

select
    counted.tool_use_id,
    counted.previous_tool_use_id, -- the same call before it
    counted.kind, -- read, retry
    counted.session_id,
    counted.agent_run_id,
    projects.name as project,
    counted.message_id,
    counted.file_id, -- the line of the call
    counted.line_number,
    counted.name,
    counted.what, -- command, path, pattern or the like
    case counted.kind
        when 'retry' then (select substr(content, 1, 1000) from tool_results where tool_result_id = counted.tool_result_id)
    end as error,
    counted.result_bytes,
    counted.model,
    -- An equal part of the cost of the response that made the call, if it made no other calls.
    case
        when counted.repeated_count = counted.call_count then round(
            (select cost_usd from response_costs where response_costs.api_response_id = counted.api_response_id) / counted.call_count, 6
        )
    end as cost_usd,
    date(counted.called_at, (
        select utc_offset from time_zone_offsets where begins_at <= counted.called_at order by begins_at desc limit 1
    )) as called_date, -- local
    counted.called_at
from counted
left join sessions on sessions.session_id = counted.session_id
left join projects on projects.project_id = sessions.project_id;
