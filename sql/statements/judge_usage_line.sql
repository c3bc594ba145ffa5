update usage_lines
set
    is_counted = ?2,
    duplicate_reason = ?3
where usage_line_id = ?1
