insert into settings (setting, value)
values (?1, ?2)
on conflict (setting) do update set value = excluded.value;
