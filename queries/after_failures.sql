-- Failed calls, and the next call
-- How to read: newest first; what the session or agent called after the call failed.
-- Group: tools
-- :tool - name of a tool that failed; all tools without it
-- :limit number - rows to show; 20 without it
with latest as materialized (
    select tool_use_id
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
    next_uses.name as next_name,
    coalesce(next_uses.command, next_uses.file_path, next_uses.pattern, next_uses.url, next_uses.query, next_uses.description)
        as next_what,
    (select next_calls.outcome from tool_calls as next_calls where next_calls.tool_use_id = next_uses.tool_use_id)
        as next_outcome,
    failed.session_id
from latest
join tool_calls as failed on failed.tool_use_id = latest.tool_use_id
left join tool_uses as next_uses on next_uses.tool_use_id = failed.next_tool_use_id
order by failed.called_at desc, failed.tool_use_id;
