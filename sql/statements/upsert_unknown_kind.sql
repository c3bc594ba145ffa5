insert into unknown_kinds (level, name, first_version, occurrence_count, file_id, line_number)
values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict (level, name) do update
set first_version = excluded.first_version, occurrence_count = occurrence_count + excluded.occurrence_count
