-- name: find_setting
select value
from settings
where setting = ?1;

-- name: insert_sync_run
insert into sync_runs (
    version, file_count, changed_file_count, read_bytes, line_count, message_count, copy_count, event_count,
    rejected_count, unreadable_count, started_at, finished_at
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)

-- name: delete_setting
delete from settings
where setting = ?1

-- name: put_setting
insert into settings (setting, value)
values (?1, ?2)
on conflict (setting) do update set value = excluded.value;

-- name: references
-- What the columns of tables reference.
select tables.name, links."from", links."table", links."to"
from sqlite_schema as tables
join pragma_foreign_key_list(tables.name) as links
where tables.type = 'table'

-- name: status
-- What the database holds, in one row.
select
    (select count(*) from sessions where not is_empty) as session_count,
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

-- name: delete_time_zone_offsets
delete from time_zone_offsets

-- name: insert_time_zone_offset
insert into time_zone_offsets (begins_at, utc_offset)
values (?1, ?2)

-- name: time_zone_offsets
select begins_at, utc_offset
from time_zone_offsets
order by begins_at

-- name: last_day
select max(activity_date) from bi_days

-- name: unpriced_models
select model from unpriced_usage order by response_count desc, model
