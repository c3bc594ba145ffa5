-- Files edited most
-- How to read: successful changes, and the lines they added and removed.
-- Group: tools
-- :limit number - rows to show; 20 without it
-- Bar: change_count
select file_path, change_count, lines_added, lines_removed, read_count, session_count, user_modified_count, last_touched_at
from file_stats
where change_count > 0
order by change_count desc, lines_added desc, file_path
limit coalesce(nullif(:limit, ''), 20);
