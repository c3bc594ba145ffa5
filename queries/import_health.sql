-- Import: what became of the files
-- How to read: files with rejected or unfinished lines first; the difference must be 0.
-- Group: data
-- :limit number - rows to show; 20 without it
select path, generation, line_count, message_count, copy_count, event_count, rejected_line_count, blank_line_count, difference
from import_accounting
order by
    rejected_line_count + abs(difference) desc, line_count desc, path, generation, message_count, copy_count, event_count,
    rejected_line_count, blank_line_count
limit coalesce(nullif(:limit, ''), 20);
