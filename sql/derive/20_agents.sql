-- The tools that spawn agents.
create temp table spawning_tools as
select 'Task' as name
union all
select 'Agent';

-- Agents without a line have a row too. Results, progress records and meta.json files name agents only. The text of a result
-- can quote anything, and a background task may be a command, so these count only for calls that spawn agents.
create temp table named_agents as
select agent_links.session_id, agent_links.agent_id
from touched_sessions
cross join agent_links using (session_id)
left join tool_uses using (tool_use_id)
where agent_links.method in ('result', 'progress') or tool_uses.name in (select name from spawning_tools)
union
select agent_metas.session_id, agent_metas.agent_id
from touched_sessions
cross join agent_metas using (session_id)
cross join files using (file_id)
where files.is_current = 1;

insert into agents (session_id, agent_id, link_method, link_confidence)
select session_id, agent_id, 'none', 'none'
from named_agents
where true
on conflict (session_id, agent_id) do nothing;

-- Nothing may name an agent any more after another line replaced the call.
delete from agents
where layout is null
    and session_id in (select session_id from touched_sessions)
    and (session_id, agent_id) not in (select session_id, agent_id from named_agents)
    and not exists (select 1 from messages where messages.agent_run_id = agents.agent_run_id)
    and not exists (select 1 from usage_lines where usage_lines.agent_run_id = agents.agent_run_id);

-- Find the call that spawned an agent. The first method that names a call wins.
create temp table linked_agents as
select agents.agent_run_id, agents.session_id, agents.agent_id, agents.layout, agents.workflow_id
from touched_sessions
cross join agents using (session_id);

create index temp.linked_agents_by_id on linked_agents (session_id, agent_id);

-- Facts from the newest version of an agent's meta.json.
create temp table noted_agents as
select *
from (
    select
        linked_agents.agent_run_id, agent_metas.*,
        row_number() over (
            partition by linked_agents.agent_run_id
            order by files.path, sources.machine_id, sources.root_path
        ) as place
    from linked_agents
    cross join agent_metas using (session_id, agent_id)
    cross join files using (file_id)
    cross join sources using (source_id)
    where files.is_current = 1
)
where place = 1;

create index temp.noted_agents_by_key on noted_agents (agent_run_id);

create temp table agent_calls as
with told as (
    select noted_agents.agent_run_id, noted_agents.tool_use_id, 1 as step, 'meta' as link_method
    from noted_agents
    where noted_agents.tool_use_id is not null
    union all
    select
        linked_agents.agent_run_id,
        agent_links.tool_use_id,
        case agent_links.method when 'result' then 2 when 'progress' then 3 when 'notification' then 4 else 5 end,
        agent_links.method
    from linked_agents
    cross join agent_links using (session_id, agent_id)
    union all
    select linked_agents.agent_run_id, tool_results.tool_use_id, 6, 'workflow'
    from linked_agents
    cross join messages on messages.session_id = linked_agents.session_id
    cross join tool_results using (message_id)
    where linked_agents.layout = 'workflow'
        and tool_results.workflow_id = linked_agents.workflow_id
),

-- The text of a result can quote anything, so only a call of a tool that spawns agents counts.
calls as (
    select told.agent_run_id, told.tool_use_id, told.step, told.link_method, messages.sent_at
    from told
    cross join tool_uses using (tool_use_id)
    cross join messages using (message_id)
    where told.step < 5 or told.step = 6 or tool_uses.name in (select name from spawning_tools)
)

select
    agent_run_id, tool_use_id, link_method,
    row_number() over (
        partition by agent_run_id
        order by step, sent_at is null, sent_at, tool_use_id -- a resumed agent was spawned by the first call
    ) as choice
from calls;

delete from agent_calls where choice > 1;
create index temp.agent_calls_by_key on agent_calls (agent_run_id);
create index temp.agent_calls_by_call on agent_calls (tool_use_id);

-- The first prompt of agents, where it is needed: to detect a warm-up agent with its own file, and to find the call of an
-- agent without one. It is usually the first message, so the others are rarely read.
create temp table agent_prompts as
select
    asked_agents.agent_run_id, asked_agents.session_id, asked_agents.agent_id, messages.sent_at,
    prompt_key(content_blocks.text) as prompt_key,
    content_blocks.text = 'Warmup' as is_warmup
from (
    select linked_agents.*
    from linked_agents
    left join agent_calls on agent_calls.agent_run_id = linked_agents.agent_run_id
    where linked_agents.layout = 'flat' or agent_calls.agent_run_id is null
) as asked_agents
cross join messages on messages.message_id = coalesce(
    (
        select told.message_id
        from messages as told indexed by messages_by_agent
        where told.agent_run_id = asked_agents.agent_run_id
            and told.sent_at = (
                select earliest.sent_at
                from messages as earliest indexed by messages_by_agent
                where earliest.agent_run_id = asked_agents.agent_run_id
                    and earliest.sent_at is not null
                    and earliest.prompt_kind = 'agent_prompt'
                    and exists (select 1 from content_blocks where message_id = earliest.message_id and text is not null)
                order by earliest.sent_at
                limit 1
            )
            and told.prompt_kind = 'agent_prompt'
            and exists (select 1 from content_blocks where message_id = told.message_id and text is not null)
        order by told.uuid
        limit 1
    ),
    (
        select told.message_id
        from messages as told indexed by messages_by_agent
        where told.agent_run_id = asked_agents.agent_run_id
            and told.sent_at is null
            and told.prompt_kind = 'agent_prompt'
            and exists (select 1 from content_blocks where message_id = told.message_id and text is not null)
        order by told.uuid
        limit 1
    )
)
cross join content_blocks on content_blocks.block_id = (
    select first.block_id
    from content_blocks as first
    where first.message_id = messages.message_id and first.text is not null
    order by first.position, first.part_number
    limit 1
);

create index temp.agent_prompts_by_key on agent_prompts (agent_run_id);

update agents
set internal_kind = case
    when agents.agent_id like 'acompact-%' then 'compaction'
    when agents.agent_id like 'aprompt_suggestion-%' then 'prompt_suggestion'
    when agents.agent_id like 'aside_question-%' then 'side_question'
    when agents.layout = 'flat' and agent_prompts.is_warmup then 'warmup'
end
from linked_agents
left join agent_prompts on agent_prompts.agent_run_id = linked_agents.agent_run_id
where linked_agents.agent_run_id = agents.agent_run_id;

-- If nothing names the call: the call with the same prompt; the first agent gets the first call.
create temp table same_prompts as
with unlinked_agents as (
    select
        agent_prompts.agent_run_id, agent_prompts.session_id, agent_prompts.prompt_key,
        noted_agents.name,
        row_number() over (
            partition by agent_prompts.session_id, agent_prompts.prompt_key
            order by agent_prompts.sent_at, agent_prompts.agent_id
        ) as prompt_rank
    from agent_prompts
    cross join agents on agents.agent_run_id = agent_prompts.agent_run_id
    left join agent_calls on agent_calls.agent_run_id = agent_prompts.agent_run_id
    left join noted_agents on noted_agents.agent_run_id = agent_prompts.agent_run_id
    where agent_calls.agent_run_id is null
        and agents.internal_kind is null
        and noted_agents.parent_agent_id is null
),

unlinked_calls as (
    select
        tool_uses.tool_use_id, messages.session_id,
        prompt_key(json_extract(tool_uses.input_json, '$.prompt')) as prompt_key,
        json_extract(tool_uses.input_json, '$.name') as name,
        row_number() over (
            partition by messages.session_id, prompt_key(json_extract(tool_uses.input_json, '$.prompt'))
            order by messages.sent_at, tool_uses.tool_use_id
        ) as prompt_rank
    from touched_sessions
    cross join messages using (session_id)
    cross join tool_uses using (message_id)
    left join agent_calls on agent_calls.tool_use_id = tool_uses.tool_use_id
    where tool_uses.name in (select name from spawning_tools)
        and agent_calls.tool_use_id is null
        and length(tool_uses.input_json) <= (select json_characters from _limits)
        and json_type(tool_uses.input_json, '$.prompt') = 'text'
)

select unlinked_agents.agent_run_id, unlinked_calls.tool_use_id
from unlinked_agents
join unlinked_calls using (session_id, prompt_key, prompt_rank)
where coalesce(unlinked_agents.name = unlinked_calls.name, 1);

insert into agent_calls (agent_run_id, tool_use_id, link_method, choice)
select agent_run_id, tool_use_id, 'prompt', 1
from same_prompts;

update agents
set
    spawned_by_tool_use_id = agent_calls.tool_use_id,
    link_method = coalesce(
        agent_calls.link_method,
        case when noted_agents.parent_agent_id is not null then 'parent' end,
        'none'
    ),
    link_confidence = case
        when agent_calls.link_method = 'prompt' then 'likely'
        when agent_calls.link_method is not null or noted_agents.parent_agent_id is not null then 'certain'
        else 'none'
    end,
    parent_agent_run_id = nullif(coalesce(
        spawning_message.agent_run_id,
        (
            select parent.agent_run_id
            from agents as parent
            where parent.session_id = linked_agents.session_id and parent.agent_id = noted_agents.parent_agent_id
        )
    ), linked_agents.agent_run_id),
    agent_type = coalesce(noted_agents.agent_type, tool_uses.subagent_type, agents.internal_kind),
    description = coalesce(noted_agents.description, tool_uses.description),
    name = coalesce(noted_agents.name, json_extract(tool_uses.input_json, '$.name')),
    model = coalesce(noted_agents.model, json_extract(tool_uses.input_json, '$.model')),
    worktree_path = noted_agents.worktree_path,
    worktree_branch = noted_agents.worktree_branch,
    workflow_phase = noted_agents.workflow_phase,
    spawn_depth = noted_agents.spawn_depth,
    is_fork = noted_agents.is_fork
from linked_agents
left join noted_agents on noted_agents.agent_run_id = linked_agents.agent_run_id
left join agent_calls on agent_calls.agent_run_id = linked_agents.agent_run_id
left join tool_uses on tool_uses.tool_use_id = agent_calls.tool_use_id
left join messages as spawning_message on spawning_message.message_id = tool_uses.message_id
where linked_agents.agent_run_id = agents.agent_run_id;

-- Facts from events: a forked agent starts with a pointer to the conversation of its session, and a workflow has a
-- journal. The first one by file wins.
create temp table agent_events as
select agent_run_id, type, payload_json
from (
    select
        linked_agents.agent_run_id, events.type, events.payload_json,
        row_number() over (
            partition by linked_agents.agent_run_id, events.type
            order by files.path, sources.machine_id, sources.root_path, files.generation, events.byte_offset
        ) as place
    from touched_sessions
    cross join events on events.session_id = touched_sessions.session_id
    cross join linked_agents
        on linked_agents.session_id = events.session_id
        and linked_agents.agent_id = json_extract(events.payload_json, '$.agentId')
    cross join files using (file_id)
    cross join sources using (source_id)
    where events.type in ('fork-context-ref', 'started', 'result', 'failed')
)
where place = 1;

create index temp.agent_events_by_key on agent_events (agent_run_id);

update agents
set
    is_fork = 1,
    context_length = count_of(agent_events.payload_json -> '$.contextLength')
from agent_events
where agent_events.agent_run_id = agents.agent_run_id
    and agent_events.type = 'fork-context-ref';

update agents
set
    workflow_label = json_extract(agent_events.payload_json, '$.label'),
    workflow_phase = coalesce(agents.workflow_phase, json_extract(agent_events.payload_json, '$.phase'))
from agent_events
where agent_events.agent_run_id = agents.agent_run_id
    and agent_events.type = 'started';

-- How an agent ended: from its last notification, else the result of its call, the journal, its last message.
create temp table agent_ends as
select
    linked_agents.agent_run_id,
    (
        select task_notifications.status
        from task_notifications
        where task_notifications.session_id = linked_agents.session_id
            and task_notifications.background_task_id = linked_agents.agent_id
            and task_notifications.status is not null
        order by task_notifications.notified_at desc, task_notifications.byte_offset desc, task_notifications.status
        limit 1
    ) as noticed,
    (
        select
            case
                when tool_results.outcome not in ('ok', 'backgrounded') then tool_results.outcome
                -- Versions 1.0.x record no status, and the files of agents no structured results.
                when tool_results.outcome = 'ok'
                    and coalesce(
                        json_extract(tool_results.details_json, '$.status'),
                        case
                            when tool_uses.name in (select name from spawning_tools)
                                and tool_results.content not like 'Spawned successfully.%'
                                then 'completed'
                        end
                    ) = 'completed' -- other values mean that the agent was launched, not that it ended
                    then 'completed'
            end
        from tool_uses
        join tool_results on tool_results.tool_result_id = tool_uses.tool_result_id
        where tool_uses.tool_use_id = agent_calls.tool_use_id
    ) as answered,
    (
        select max(case agent_events.type when 'result' then 'completed' else 'failed' end)
        from agent_events
        where agent_events.agent_run_id = linked_agents.agent_run_id
            and agent_events.type in ('result', 'failed')
    ) as journaled,
    (
        select case when messages.type = 'assistant' and messages.stop_reason = 'end_turn' then 'finished' end
        from messages
        where messages.agent_run_id = linked_agents.agent_run_id
        order by messages.sent_at desc, messages.uuid desc
        limit 1
    ) as last_said
from linked_agents
left join agent_calls on agent_calls.agent_run_id = linked_agents.agent_run_id;

update agents
set
    status = coalesce(agent_ends.noticed, agent_ends.answered, agent_ends.journaled, agent_ends.last_said),
    status_source = case
        when agent_ends.noticed is not null then 'notification'
        when agent_ends.answered is not null then 'result'
        when agent_ends.journaled is not null then 'journal'
        when agent_ends.last_said is not null then 'last_message'
    end,
    team_name = (
        select messages.team_name
        from messages indexed by messages_of_teams
        where messages.agent_run_id = agents.agent_run_id and messages.team_name is not null
        order by messages.sent_at, messages.uuid
        limit 1
    ),
    started_at = (select min(sent_at) from messages where messages.agent_run_id = agents.agent_run_id),
    ended_at = (select max(sent_at) from messages where messages.agent_run_id = agents.agent_run_id)
from agent_ends
where agent_ends.agent_run_id = agents.agent_run_id;

drop table agent_ends;
drop table agent_events;
drop table same_prompts;
drop table agent_prompts;
drop table agent_calls;
drop table noted_agents;
drop table linked_agents;
drop table named_agents;
drop table spawning_tools;
