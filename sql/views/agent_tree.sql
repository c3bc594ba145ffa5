create view agent_tree as
-- One row per agent, indented under its parent agent. Agents whose parents form a cycle are at the top.
with recursive tops as (
    select agents.agent_run_id
    from agents
    where agents.parent_agent_run_id is null
        or not exists (
            -- Ancestors, to see whether the chain ends.
            with recursive ancestors as (
                select parent.agent_run_id, parent.parent_agent_run_id
                from agents as parent
                where parent.agent_run_id = agents.parent_agent_run_id
                union
                select parent.agent_run_id, parent.parent_agent_run_id
                from ancestors
                join agents as parent on parent.agent_run_id = ancestors.parent_agent_run_id
            )

            select 1 from ancestors where ancestors.parent_agent_run_id is null
        )
),

tree as (
    select
        agents.agent_run_id, agents.session_id, 1 as depth,
        coalesce(agents.started_at, '') || ' ' || agents.agent_id as place
    from tops
    join agents using (agent_run_id)
    union all
    select
        agents.agent_run_id, agents.session_id, tree.depth + 1,
        tree.place || ' / ' || coalesce(agents.started_at, '') || ' ' || agents.agent_id
    from tree
    join agents on agents.parent_agent_run_id = tree.agent_run_id
    where agents.agent_run_id not in (select tops.agent_run_id from tops)
)

select
    tree.session_id,
    tree.agent_run_id,
    agents.parent_agent_run_id,
    tree.depth,
    printf('%*s', 2 * (tree.depth - 1), '') || coalesce(agents.agent_type, agents.agent_id) as indented_type,
    agents.agent_id,
    agents.agent_type,
    agents.description,
    agents.name,
    agents.layout,
    agents.internal_kind,
    agents.link_method,
    agents.spawned_by_tool_use_id,
    agents.status,
    coalesce(
        (
            select task_notifications.result
            from task_notifications
            where task_notifications.session_id = agents.session_id
                and task_notifications.background_task_id = agents.agent_id
                and task_notifications.result is not null
            order by task_notifications.notified_at desc, task_notifications.result
            limit 1
        ),
        (
            select tool_results.content
            from tool_uses
            join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
            where tool_uses.tool_use_id = agents.spawned_by_tool_use_id and tool_results.outcome = 'ok'
        )
    ) as result, -- text of its notification, else the result of its call
    (select count(*) from messages where messages.agent_run_id = agents.agent_run_id) as message_count,
    (
        select count(*)
        from messages
        join tool_uses using (message_id)
        where messages.agent_run_id = agents.agent_run_id
    ) as tool_call_count,
    (
        select sum(api_responses.output_tokens)
        from api_responses
        where api_responses.agent_run_id = agents.agent_run_id
    ) as output_tokens,
    agents.started_at,
    agents.ended_at,
    tree.place -- sort key of the tree
from tree
join agents on agents.agent_run_id = tree.agent_run_id;
