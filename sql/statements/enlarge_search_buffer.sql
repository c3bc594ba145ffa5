-- The words of 8 MB are sorted at once, not of 1 MB: there is less to merge.
insert into search (search, rank) values ('hashsize', 8388608);
