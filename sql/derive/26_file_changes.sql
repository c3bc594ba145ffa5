-- What the calls changed, by what their answers tell, else by their input. Calls that failed changed nothing.
insert or ignore into touched_changes (tool_use_id)
select tool_use_id
from touched_tool_uses;

delete from file_changes
where tool_use_id in (select tool_use_id from touched_changes);

insert into file_changes (
    tool_use_id, file_path, kind, lines_added, lines_removed, line_count_source, is_user_modified
)
with calls as materialized ( -- in the order of their rows: they and their answers lie far apart otherwise
    select tool_uses.rowid as call_rowid
    from touched_changes
    cross join tool_uses using (tool_use_id)
    order by call_rowid
)

select
    tool_uses.tool_use_id,
    coalesce(nullif(tool_results.changed_path, ''), tool_uses.file_path),
    coalesce(tool_results.change_kind, tool_uses.change_kind),
    case when tool_results.change_kind is null then tool_uses.input_lines_added else tool_results.lines_added end,
    case when tool_results.change_kind is null then tool_uses.input_lines_removed else tool_results.lines_removed end,
    case
        when tool_results.change_kind is not null then tool_results.line_count_source
        when tool_uses.input_lines_added is not null then 'input'
    end,
    tool_results.is_user_modified
from calls
cross join tool_uses on tool_uses.rowid = calls.call_rowid
cross join tool_results using (tool_result_id)
where tool_uses.change_kind is not null
    and tool_results.outcome = 'ok'
    and coalesce(nullif(tool_results.changed_path, ''), tool_uses.file_path) is not null;
