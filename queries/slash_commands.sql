-- Slash commands and skills
-- How to read: how often you and the model used each of them.
-- Group: tools
-- Bar: use_count
select 'person' as used_by, command_name as name, count(*) as use_count, max(said_at) as last_used_at
from prompts
where command_name is not null
group by command_name
union all
select 'model', coalesce(skill, command), count(*), max(called_at)
from tool_calls
where name in ('Skill', 'SlashCommand')
group by coalesce(skill, command)
order by use_count desc, name, used_by;
