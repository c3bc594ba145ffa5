create view file_stats as
-- One row per file that was read or changed.
with touched as (
    select
        tool_uses.file_path,
        tool_uses.name,
        tool_uses.tool_use_id,
        messages.session_id,
        messages.sent_at
    from tool_uses
    join messages on messages.message_id = tool_uses.message_id
    where tool_uses.name in ('Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit')
        and tool_uses.file_path is not null
)

select
    touched.file_path,
    sum(touched.name = 'Read') as read_count,
    count(file_changes.file_change_id) as change_count,
    coalesce(sum(file_changes.lines_added), 0) as lines_added,
    coalesce(sum(file_changes.lines_removed), 0) as lines_removed,
    coalesce(sum(file_changes.is_user_modified), 0) as user_modified_count, -- edits changed by the person
    count(distinct touched.session_id) as session_count,
    min(touched.sent_at) as first_touched_at,
    max(touched.sent_at) as last_touched_at
from touched
left join file_changes on file_changes.tool_use_id = touched.tool_use_id
group by touched.file_path;
