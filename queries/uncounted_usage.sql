-- Usage that is not counted, and why
-- How to read: every line with usage is counted or listed with its reason.
-- Group: data
-- Bar: line_count
-- Total: line_count
select
    reason,
    sum(line_count) as line_count,
    sum(response_count) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens
from duplicate_usage
group by reason, is_counted
order by is_counted desc, sum(line_count) desc, reason;
