insert into projects (directory_name, name)
values (?1, ?1)
on conflict (directory_name) do update set directory_name = excluded.directory_name
returning project_id
