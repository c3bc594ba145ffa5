create view session_overview as
-- One row per session: what it was about, how long it was, and what was done in it, its agents included.
with spoken as (
    select
        session_id,
        count(*) as message_count,
        sum(prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note', 'sdk_prompt') and agent_key is null)
            as prompt_count,
        sum(prompt_kind is 'interrupt') as interrupt_count
    from messages
    group by session_id
),

called as (
    select
        messages.session_id,
        count(*) as tool_call_count,
        count(distinct tool_uses.name) as tool_count
    from tool_uses
    join messages using (message_id)
    group by messages.session_id
),

changed as (
    select
        messages.session_id,
        count(distinct file_changes.file_path) as changed_file_count,
        sum(file_changes.lines_added) as lines_added,
        sum(file_changes.lines_removed) as lines_removed
    from file_changes
    join tool_uses using (tool_use_id)
    join messages using (message_id)
    group by messages.session_id
),

used as (
    select
        session_id,
        count(*) as response_count,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        sum(cache_write_tokens) as cache_write_tokens,
        sum(cache_read_tokens) as cache_read_tokens,
        sum(cost_usd) as cost_usd,
        sum(estimated_cost_usd) as estimated_cost_usd,
        group_concat(distinct model) as models
    from response_costs
    group by session_id
),

helped as (
    select session_id, count(*) as agent_count
    from agents
    where internal_kind is null
    group by session_id
)

select
    sessions.session_id,
    projects.name as project,
    sessions.title,
    sessions.first_prompt,
    sessions.git_branch,
    used.models,
    coalesce(spoken.prompt_count, 0) as prompt_count,
    coalesce(spoken.message_count, 0) as message_count,
    coalesce(spoken.interrupt_count, 0) as interrupt_count,
    coalesce(called.tool_call_count, 0) as tool_call_count,
    coalesce(helped.agent_count, 0) as agent_count,
    coalesce(changed.changed_file_count, 0) as changed_file_count,
    coalesce(changed.lines_added, 0) as lines_added,
    coalesce(changed.lines_removed, 0) as lines_removed,
    coalesce(used.response_count, 0) as response_count,
    coalesce(used.input_tokens, 0) as input_tokens,
    coalesce(used.output_tokens, 0) as output_tokens,
    coalesce(used.cache_write_tokens, 0) as cache_write_tokens,
    coalesce(used.cache_read_tokens, 0) as cache_read_tokens,
    round(used.cost_usd, 6) as cost_usd, -- NULL when no price is known
    round(used.estimated_cost_usd, 6) as estimated_cost_usd, -- with estimates where the recorded output is a placeholder
    cast(round((julianday(sessions.ended_at) - julianday(sessions.started_at)) * 86400) as integer) as duration_s,
    sessions.version,
    sessions.started_at,
    sessions.ended_at
from sessions
left join projects using (project_id)
left join spoken using (session_id)
left join called using (session_id)
left join changed using (session_id)
left join used using (session_id)
left join helped using (session_id);
