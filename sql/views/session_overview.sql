create view session_overview as
-- One row per session: what it was about, how long it was, and what was done in it, its agents included.
with used as (
    select
        session_id,
        count(*) as response_count,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        sum(cache_write_tokens) as cache_write_tokens,
        sum(cache_read_tokens) as cache_read_tokens,
        sum(cost_usd) as cost_usd,
        sum(estimated_cost_usd) as estimated_cost_usd
    from response_costs
    group by session_id
)

select
    sessions.session_id,
    projects.name as project,
    sessions.title,
    sessions.first_prompt,
    sessions.git_branch,
    (
        select group_concat(model)
        from (
            select distinct api_responses.model
            from api_responses
            where api_responses.session_id = sessions.session_id
            order by api_responses.model
        )
    ) as models,
    -- Messages and calls have long rows: they are counted by indexes, and what they changed by the parts that sync counts.
    (
        select count(*)
        from messages indexed by messages_by_prompt
        where messages.session_id = sessions.session_id
            and messages.prompt_kind in ('human', 'slash_command', 'bash_command', 'memory_note', 'sdk_prompt')
            and messages.agent_key is null
    ) as prompt_count,
    (select count(*) from messages where messages.session_id = sessions.session_id) as message_count,
    (
        select count(*)
        from messages indexed by messages_by_prompt
        where messages.session_id = sessions.session_id
            and messages.prompt_kind = 'interrupt'
    ) as interrupt_count,
    (
        select count(*)
        from messages
        cross join tool_uses on tool_uses.message_id = messages.message_id
        where messages.session_id = sessions.session_id
    ) as tool_call_count,
    (
        select count(*)
        from agents
        where agents.session_id = sessions.session_id
            and agents.internal_kind is null
    ) as agent_count,
    (
        select count(distinct file_change_parts.file_path)
        from file_change_parts
        where file_change_parts.session_id = sessions.session_id
    ) as changed_file_count,
    (
        select coalesce(sum(file_change_parts.lines_added), 0)
        from file_change_parts
        where file_change_parts.session_id = sessions.session_id
    ) as lines_added,
    (
        select coalesce(sum(file_change_parts.lines_removed), 0)
        from file_change_parts
        where file_change_parts.session_id = sessions.session_id
    ) as lines_removed,
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
left join used using (session_id);
