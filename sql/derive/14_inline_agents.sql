-- Old versions write agents into the file of their session, without an id: each root of a sidechain is one agent. A message
-- whose parent is in another session is no root, so the result does not depend on which sessions are touched.
create temp table inline_messages as
select messages.message_id, messages.uuid, messages.parent_message_id, messages.session_id
from touched_sessions
cross join messages on messages.session_id = touched_sessions.session_id
    and messages.is_sidechain = 1
    and messages.agent_id is null
cross join files using (file_id)
where files.kind <> 'agent';

create index temp.inline_messages_by_parent on inline_messages (parent_message_id);
create index temp.inline_messages_by_id on inline_messages (message_id);

create temp table inline_agents as
with recursive chain as (
    select inline_messages.message_id, inline_messages.session_id, inline_messages.uuid as root_uuid
    from inline_messages
    where not exists (
        select 1
        from inline_messages as parent
        where parent.message_id = inline_messages.parent_message_id
            and parent.session_id = inline_messages.session_id
    )
    union -- not `union all`, which would not end in a cycle
    select inline_messages.message_id, chain.session_id, chain.root_uuid
    from chain
    join inline_messages
        on inline_messages.parent_message_id = chain.message_id
        and inline_messages.session_id = chain.session_id
)

select message_id, session_id, 'inline-' || root_uuid as agent_id
from chain;

insert into agents (session_id, agent_id, layout, link_method, link_confidence)
select distinct session_id, agent_id, 'inline', 'none', 'none'
from inline_agents
where true
on conflict (session_id, agent_id) do nothing;

-- A cycle of parents has no root and no agent.
update messages
set agent_run_id = null
where agent_run_id is not null
    and message_id in (
        select message_id
        from inline_messages
        except
        select message_id
        from inline_agents
    );

update messages
set agent_run_id = agents.agent_run_id
from inline_agents
cross join agents using (session_id, agent_id)
where inline_agents.message_id = messages.message_id
    and messages.agent_run_id is not agents.agent_run_id;

-- Usage follows the message; copies have no agent.
insert or ignore into touched_responses (api_response_id)
select usage_lines.api_response_id
from touched_sessions
cross join agents on agents.session_id = touched_sessions.session_id and agents.agent_id like 'inline-%'
cross join usage_lines on usage_lines.agent_run_id = agents.agent_run_id
union
select usage_lines.api_response_id
from inline_agents
cross join usage_lines using (message_id);

update usage_lines
set agent_run_id = null
where agent_run_id in (
    select agents.agent_run_id
    from touched_sessions
    cross join agents on agents.session_id = touched_sessions.session_id and agents.agent_id like 'inline-%'
);

update usage_lines
set agent_run_id = messages.agent_run_id
from inline_agents
cross join messages using (message_id)
where usage_lines.message_id = inline_agents.message_id
    and usage_lines.file_id = messages.file_id
    and usage_lines.byte_offset = messages.byte_offset
    and usage_lines.is_progress = 0;

-- A root whose parent has arrived is no root any more. Derive agents and responses that refer to it again.
create temp table lost_agents as
select agents.agent_run_id
from touched_sessions
cross join agents on agents.session_id = touched_sessions.session_id
where agents.layout = 'inline'
    and agents.agent_id like 'inline-%'
    and not exists (select 1 from messages where messages.agent_run_id = agents.agent_run_id)
    and not exists (select 1 from usage_lines where usage_lines.agent_run_id = agents.agent_run_id);

insert or ignore into touched_sessions (session_id)
select agents.session_id
from lost_agents
cross join agents on agents.parent_agent_run_id = lost_agents.agent_run_id;

insert or ignore into touched_responses (api_response_id)
select api_responses.api_response_id
from lost_agents
cross join api_responses on api_responses.agent_run_id = lost_agents.agent_run_id;

delete from agents
where agent_run_id in (select agent_run_id from lost_agents);

drop table lost_agents;
drop table inline_agents;
drop table inline_messages;
