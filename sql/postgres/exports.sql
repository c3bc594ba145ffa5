
create table if not exists cc_etl_exports (
    -- One row per machine: what was loaded, and when.
    machine text primary key references dim_machine on delete cascade,
    version bigint not null,
    profile text not null,
    key_id text,
    has_names boolean not null,
    masked jsonb not null, -- how often each rule has masked something
    loaded_at timestamptz not null default now()
);

do $$
begin
    if exists (select from cc_etl_exports where (profile, key_id, has_names) is distinct from ({profile})) then
        raise exception 'the tables of this schema have rows of another profile, or hashes of another key'
            using hint = 'Load into another schema, as with PGOPTIONS=''-c search_path=NAME'', or drop the tables.';
    end if;
end $$;

-- All rows of the machines.
delete from dim_machine where machine in ({machines});
