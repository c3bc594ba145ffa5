-- Index the texts of new blocks. Changed and deleted blocks are removed from the index before
-- (sql/statements/search.sql).
insert into search (rowid, text)
select block_id, text
from _search_texts
where block_id > (select last_block_id from indexed_blocks)
    and text is not null;

update indexed_blocks
set last_block_id = (select coalesce(max(block_id), 0) from content_blocks);
