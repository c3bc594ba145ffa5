insert into sources (machine, root_path)
values (?1, ?2)
