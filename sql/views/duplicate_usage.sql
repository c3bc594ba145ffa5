create view duplicate_usage as
-- One row per reason why lines with usage are not counted and machine with such lines, and one for the counted lines of each
-- machine. Together they are all lines.
select
    coalesce(duplicate_reason, 'counted') as reason,
    sources.machine, -- that the line is from
    is_counted,
    count(*) as line_count,
    count(distinct api_response_id) as response_count,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cache_read_tokens) as cache_read_tokens
from usage_lines
join files using (file_id)
join sources using (source_id)
group by 1, 2, 3;
