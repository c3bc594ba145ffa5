-- Fails if the full-text index is not that of the texts. It writes nothing, but SQLite takes it for writing.
insert into search (search, rank) values ('integrity-check', 1)
