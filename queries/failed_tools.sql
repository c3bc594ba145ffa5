-- Tool calls that failed
-- How to read: newest first; what was called, and the result that the model got.
-- Group: tools
-- :tool - name of a tool; all tools without it
-- :limit number - rows to show; 20 without it
select called_at, name, coalesce(command, file_path, pattern, url, query, description) as what, outcome, exit_code,
    substr(result, 1, 300) as result, session_id
from tool_calls
where outcome_group = 'error'
    and name like '%' || coalesce(nullif(:tool, ''), '') || '%'
order by called_at desc, tool_use_id
limit coalesce(nullif(:limit, ''), 20);
