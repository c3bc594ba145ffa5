-- Puts the outputs of tools into the index, from now on and of what is there.
insert into search (rowid, text)
select tool_results.block_id, substr(tool_results.content, 1, 1000000)
from tool_results
where tool_results.content is not null
    and not exists (select 1 from settings where setting = 'index_tool_output');

insert or ignore into settings (setting, value)
values ('index_tool_output', '1');
