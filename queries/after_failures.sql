-- Failed calls, and the next call
-- How to read: newest first; what the session or agent called after the call failed.
-- Group: tools
-- :tool - name of a tool that failed; all tools without it
-- :limit number - rows to show; 20 without it
with failed as materialized (
    select *
    from tool_calls
    where outcome_group = 'error'
        and name like '%' || coalesce(nullif(:tool, ''), '') || '%'
    order by called_at desc, tool_use_id
    limit coalesce(nullif(:limit, ''), 20)
)

select
    failed.called_at,
    failed.name,
    coalesce(failed.command, failed.file_path, failed.pattern, failed.url, failed.query, failed.description) as what,
    substr(failed.result, 1, 300) as result,
    next_calls.name as next_name,
    coalesce(
        next_calls.command, next_calls.file_path, next_calls.pattern, next_calls.url, next_calls.query, next_calls.description
    ) as next_what,
    next_calls.outcome as next_outcome,
    failed.session_id
from failed
left join tool_calls as next_calls on next_calls.tool_use_id = failed.next_tool_use_id
order by failed.called_at desc, failed.tool_use_id;
