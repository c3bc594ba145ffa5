-- Usage that is not counted, and why
-- How to read: every line with usage is counted or listed with its reason.
-- Group: data
-- Bar: line_count
-- Total: line_count
select reason, line_count, response_count, input_tokens, output_tokens, cache_write_tokens, cache_read_tokens
from duplicate_usage
order by is_counted desc, line_count desc, reason;
