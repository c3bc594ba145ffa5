-- The words of a block.
insert into search (rowid, text)
values (?1, ?2)
