delete from rejected_lines
where file_id = ?1 and reason = 'incomplete_tail'
