create table cc_etl_exports (
    -- One row per machine in the export.
    machine TEXT not null primary key references dim_machine,
    version BIGINT not null, -- of the layout and the columns
    profile TEXT not null,
    key_id TEXT, -- identifies the key of the hashes
    has_names BOOLEAN not null,
    masked TEXT not null -- JSON: how often each rule has masked something
);
