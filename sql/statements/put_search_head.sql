-- What the index that was written without SQLite holds. Its tables are those of FTS5.
insert or replace into search_data (id, block)
values (?1, ?2)
