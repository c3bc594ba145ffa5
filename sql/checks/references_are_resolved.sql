-- A reference whose target is in the database has its key.
select 'parent' as reference, messages.uuid
from messages
join messages as parent on parent.uuid = messages.parent_uuid
where messages.parent_message_id is not parent.message_id
union all
select 'logical parent', messages.uuid
from messages
join messages as parent on parent.uuid = messages.logical_parent_uuid
where messages.logical_parent_message_id is not parent.message_id
union all
select 'tool use', tool_results.source_tool_use_id
from tool_results
join tool_uses on tool_uses.tool_use_id = tool_results.source_tool_use_id
where tool_results.tool_use_id is not tool_results.source_tool_use_id
union all
select 'tool use of a message', messages.uuid
from messages
join tool_uses on tool_uses.tool_use_id = messages.source_tool_use_id
where messages.tool_use_id is not messages.source_tool_use_id
union all
select 'tool use of an agent', agent_links.agent_id
from agent_links
join tool_uses on tool_uses.tool_use_id = agent_links.source_tool_use_id
where agent_links.tool_use_id is not agent_links.source_tool_use_id
