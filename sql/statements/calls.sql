-- name: delete_file_change
delete from file_changes
where tool_use_id = ?1

-- name: delete_file_changes_of_message
delete from file_changes
where tool_use_id in (select tool_use_id from tool_uses where message_id = ?1)

-- name: delete_git_operations_of_message
delete from git_operations
where tool_result_id in (select tool_result_id from tool_results where message_id = ?1)

-- name: delete_tool_results_of_message
delete from tool_results
where message_id = ?1

-- name: delete_tool_use
delete from tool_uses
where tool_use_id = ?1

-- name: delete_tool_use_copies_of_message
delete from tool_use_copies
where block_id in (select block_id from content_blocks where message_id = ?1)

-- name: delete_tool_use_copy
delete from tool_use_copies
where block_id = ?1

-- name: delete_tool_uses_of_message
delete from tool_uses
where message_id = ?1

-- name: delete_web_requests_of_message
delete from web_requests
where tool_result_id in (select tool_result_id from tool_results where message_id = ?1)

-- name: find_call_to_settle
-- The result that settles a call, and the change of a file in its input.
select
    tool_uses.tool_result_id, messages.sent_at, tool_uses.change_kind, tool_uses.file_path, tool_uses.input_lines_added,
    tool_uses.input_lines_removed
from tool_uses
cross join messages using (message_id)
where tool_uses.tool_use_id = ?1

-- name: find_orphaned_results
-- Results that arrived before their call.
select distinct source_tool_use_id
from tool_results indexed by tool_results_without_call
where tool_use_id is null
    and source_tool_use_id is not null
    and exists (select 1 from tool_uses where tool_uses.tool_use_id = tool_results.source_tool_use_id)

-- name: find_results_of_message
select source_tool_use_id
from tool_results
where message_id = ?1 and source_tool_use_id is not null

-- name: find_results_to_settle
-- The results of a call, the earliest first.
select
    tool_results.tool_result_id, tool_results.elapsed_ms, messages.sent_at, tool_results.outcome,
    tool_results.change_kind, tool_results.changed_path, tool_results.line_count_source, tool_results.lines_added,
    tool_results.lines_removed, tool_results.is_user_modified
from tool_results
cross join messages using (message_id)
cross join content_blocks using (block_id)
where tool_results.tool_use_id = ?1
order by messages.sent_at is null, messages.sent_at, messages.uuid, content_blocks.position

-- name: find_rightful_block
-- The block that a tool call belongs to: outside a sidechain, then the earliest, then the smallest uuid.
select content_blocks.block_id, content_blocks.message_id, content_blocks.extra_json
from content_blocks
join messages using (message_id)
where content_blocks.block_id in (
    select block_id from tool_uses where tool_use_id = ?1
    union all
    select block_id from tool_use_copies where tool_use_id = ?1
)
order by
    coalesce(messages.is_sidechain, 0), messages.sent_at is null, messages.sent_at, messages.uuid,
    content_blocks.position
limit 1

-- name: find_tool_use
-- A tool call as written, with the rest of its block.
select tool_uses.name, tool_uses.input_json, content_blocks.extra_json
from tool_uses
join content_blocks using (block_id)
where tool_uses.tool_use_id = ?1

-- name: find_tool_use_block
select block_id
from tool_uses
where tool_use_id = ?1

-- name: find_tool_uses_of_message
select tool_use_id
from tool_uses
where message_id = ?1
union
select tool_use_copies.tool_use_id
from tool_use_copies
join content_blocks using (block_id)
where content_blocks.message_id = ?1

-- name: forget_elapsed_time
-- The results of a deleted call.
update tool_results indexed by tool_results_without_call
set elapsed_ms = null
where tool_use_id is null
    and source_tool_use_id = ?1
    and elapsed_ms is not null

-- name: forget_tool_use
-- Deletes a tool call that no message contains any more.
update tool_results
set tool_use_id = null
where tool_use_id = ?1

-- name: insert_tool_use_copy
insert into tool_use_copies (block_id, tool_use_id)
values (?1, ?2)

-- name: link_orphaned_results
-- Results whose call has arrived.
update tool_results indexed by tool_results_without_call
set tool_use_id = source_tool_use_id
where tool_use_id is null
    and source_tool_use_id is not null
    and exists (select 1 from tool_uses where tool_uses.tool_use_id = tool_results.source_tool_use_id)

-- name: set_elapsed_time
update tool_results
set elapsed_ms = ?2
where tool_result_id = ?1

-- name: settle_call
update tool_uses
set tool_result_id = ?2
where tool_use_id = ?1
