-- Fills the full-text index from the texts alone.
insert into search (search) values ('delete-all');
insert into search (rowid, text)
select block_id, text
from search_texts
where text is not null;
