-- Where every record and every rejected fragment of a file stands; the bytes of the latter.
select byte_offset, null as raw from messages where file_id = ?1
union all
select byte_offset, null from message_copies where file_id = ?1
union all
select byte_offset, null from events where file_id = ?1
union all
select byte_offset, null from history_prompts where file_id = ?1
union all
select byte_offset, raw from rejected_lines where file_id = ?1
