create view file_stats as
-- One row per file that was read or changed, and machine.
with touched as (
    select
        file_path,
        machine,
        name,
        tool_use_id,
        session_id,
        called_at
    from tool_calls
    where name in ('Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit')
        and file_path is not null
)

select
    touched.file_path,
    touched.machine,
    sum(touched.name = 'Read') as read_count,
    count(file_changes.file_change_id) as change_count,
    coalesce(sum(file_changes.lines_added), 0) as lines_added,
    coalesce(sum(file_changes.lines_removed), 0) as lines_removed,
    coalesce(sum(file_changes.is_user_modified), 0) as user_modified_count, -- edits changed by the person
    count(distinct touched.session_id) as session_count,
    min(touched.called_at) as first_touched_at,
    max(touched.called_at) as last_touched_at
from touched
left join file_changes on file_changes.tool_use_id = touched.tool_use_id
group by touched.file_path, touched.machine;
