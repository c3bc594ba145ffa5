create view _limits as
-- One row per database: the limits that views and scripts share.
select
    -- Columns that repeat a text are truncated to this, as in src/normalize/truncate.rs.
    1000000 as text_characters,
    -- Longer JSON is not searched: SQLite's JSON functions need a multiple of it in memory.
    1000000 as json_characters;
