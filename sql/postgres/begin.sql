-- Facts and dimensions of Claude Code sessions, as `cc-etl export --format postgres` writes them for psql.
-- One transaction: a failure before `commit` changes nothing.
\set ON_ERROR_STOP on
\set QUIET on

-- A transaction that waited for a lock has to see what the other one committed.
begin isolation level read committed;
set local client_encoding = 'UTF8';
set local client_min_messages = 'warning';
set local standard_conforming_strings = on;

-- Loads of several machines run at once; loads of one machine follow each other. Tables are created, and get the columns of a newer
-- version, while no load runs: `if not exists` does not protect from another transaction that creates the same table. Every
-- transaction takes these locks in this order, so none waits for another in a circle.
do $$
declare
    tables_lock constant integer := {tables_lock};
    machines_lock constant integer := {machines_lock};
    wanted constant text[] := array[
        {columns}
    ];
    lacking record;
begin
    if exists (
        select
        from generate_subscripts(wanted, 1) as number
        where not exists (
            select
            from pg_attribute
            where attrelid = to_regclass(format('%I.%I', current_schema(), wanted[number][1]))
                and attname = wanted[number][2]
                and not attisdropped
        )
    ) then
        perform pg_advisory_xact_lock(tables_lock, 0);
    else
        perform pg_advisory_xact_lock_shared(tables_lock, 0);
    end if;
    for lacking in
        select wanted[number][1] as table_name, wanted[number][2] as column_name, wanted[number][3] as type
        from generate_subscripts(wanted, 1) as number
        where to_regclass(format('%I.%I', current_schema(), wanted[number][1])) is not null
            and not exists (
                select
                from pg_attribute
                where attrelid = to_regclass(format('%I.%I', current_schema(), wanted[number][1]))
                    and attname = wanted[number][2]
                    and not attisdropped
            )
    loop
        execute format(
            'alter table %I.%I add column %I %s', current_schema(), lacking.table_name, lacking.column_name, lacking.type
        );
    end loop;
    {lock_machines}
end $$;

-- Every row belongs to a machine: a deleted row of dim_machine takes all rows of the machine with it. No other foreign key would be
-- true for every set of machines: a fact may have no session, and the machine of a fact without messages may not be that of its session.
