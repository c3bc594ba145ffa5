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

shown_as_counted as (
    select sum(output_tokens) as output_tokens, sum(input_tokens) as input_tokens,
        sum(cache_write_tokens) as cache_write_tokens, sum(cache_read_tokens) as cache_read_tokens
    from duplicate_usage
    where is_counted
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
select 'counted lines', shown_as_counted.output_tokens, counted.output_tokens
from shown_as_counted, counted
where shown_as_counted.output_tokens is not counted.output_tokens
    or shown_as_counted.input_tokens is not counted.input_tokens
    or shown_as_counted.cache_write_tokens is not counted.cache_write_tokens
    or shown_as_counted.cache_read_tokens is not counted.cache_read_tokens
