-- Code blocks in answers
-- How to read: the first block of each answer that has one, with its language.
-- Group: conversation
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
with fenced as (
    select
        messages.sent_at, messages.session_id, projects.name as project, messages.uuid,
        substr(content_blocks.text, instr(content_blocks.text, '```') + 3) as behind
    from content_blocks
    join messages on messages.message_id = content_blocks.message_id
    left join sessions on sessions.session_id = messages.session_id
    left join projects on projects.project_id = sessions.project_id
    where messages.type = 'assistant'
        and content_blocks.type = 'text'
        and content_blocks.text like '%```%```%'
        and coalesce(projects.name, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
)

select
    sent_at,
    project,
    substr(behind, 1, instr(behind, char(10)) - 1) as language,
    trim(substr(behind, instr(behind, char(10)) + 1, instr(substr(behind, instr(behind, char(10)) + 1), '```') - 1), char(10))
        as code,
    session_id,
    uuid
from fenced
order by sent_at desc, uuid, language, code
limit coalesce(nullif(:limit, ''), 20);
