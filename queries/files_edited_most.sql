-- Files edited most
-- How to read: successful changes, and the lines they added and removed.
-- Group: tools
-- :limit number - rows to show; 20 without it
-- Bar: change_count
select
    file_path,
    sum(change_count) as change_count,
    sum(lines_added) as lines_added,
    sum(lines_removed) as lines_removed,
    sum(read_count) as read_count,
    sum(session_count) as session_count,
    sum(user_modified_count) as user_modified_count,
    max(last_touched_at) as last_touched_at
from file_stats
group by file_path
having sum(change_count) > 0
order by sum(change_count) desc, sum(lines_added) desc, file_path
limit coalesce(nullif(:limit, ''), 20);
