-- What the database holds, in one row.
select
    (select count(*) from sessions) as session_count,
    (select count(*) from messages) as message_count,
    (select min(sent_at) from messages) as first_at,
    (select max(sent_at) from messages) as last_at,
    (select count(*) from files where is_current) as file_count,
    (select count(*) from files where is_current and missing_since is not null) as missing_count,
    (select count(*) from sources) as source_count,
    max(
        coalesce((select max(finished_at) from sync_runs), ''),
        coalesce((select max(last_synced_at) from files), '')
    ) as synced_at
