select
    projects.name as project,
    tool_calls.name as tool_name,
    count(*) as change_count,
    count(distinct file_changes.file_path) as file_count,
    sum(file_changes.lines_added) as lines_added,
    sum(file_changes.lines_removed) as lines_removed,
    coalesce(sum(file_changes.is_user_modified), 0) as user_modified_count
from file_changes
join tool_calls using (tool_use_id)
left join sessions using (session_id)
left join projects using (project_id)
group by 1, 2;
