-- One row per project and tool: files changed, and lines added and removed.
-- Reads: owned_file_change
select
    owned_file_change.project,
    owned_file_change.tool_name,
    count(*) as change_count,
    count(distinct owned_file_change.file_path) as file_count,
    sum(owned_file_change.lines_added) as lines_added,
    sum(owned_file_change.lines_removed) as lines_removed,
    sum(case when owned_file_change.is_user_modified then 1 else 0 end) as user_modified_count
from owned_file_change
group by owned_file_change.project, owned_file_change.tool_name
