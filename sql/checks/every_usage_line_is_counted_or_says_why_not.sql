-- Counted and not counted lines together are all lines, with all their tokens.
with lines as (
    select count(*) as line_count, sum(output_tokens) as output_tokens, sum(input_tokens) as input_tokens,
        sum(cache_write_tokens) as cache_write_tokens, sum(cache_read_tokens) as cache_read_tokens
    from usage_lines
),

shown as (
    select sum(line_count) as line_count, sum(output_tokens) as output_tokens, sum(input_tokens) as input_tokens,
        sum(cache_write_tokens) as cache_write_tokens, sum(cache_read_tokens) as cache_read_tokens
    from duplicate_usage
),

counted as (
    select sum(output_tokens) as output_tokens, sum(input_tokens) as input_tokens,
        sum(cache_write_tokens) as cache_write_tokens, sum(cache_read_tokens) as cache_read_tokens
    from api_responses
    where kind = 'message'
)

select 'all lines' as what, lines.output_tokens, shown.output_tokens
from lines, shown
where lines.line_count <> coalesce(shown.line_count, 0)
    or lines.output_tokens is not shown.output_tokens
    or lines.input_tokens is not shown.input_tokens
    or lines.cache_write_tokens is not shown.cache_write_tokens
    or lines.cache_read_tokens is not shown.cache_read_tokens
union all
select 'counted lines', duplicate_usage.output_tokens, counted.output_tokens
from duplicate_usage, counted
where duplicate_usage.is_counted
    and (
        duplicate_usage.output_tokens is not counted.output_tokens
        or duplicate_usage.input_tokens is not counted.input_tokens
        or duplicate_usage.cache_write_tokens is not counted.cache_write_tokens
        or duplicate_usage.cache_read_tokens is not counted.cache_read_tokens
    )
