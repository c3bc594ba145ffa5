-- duckdb < questions.sql, or paste it. The first line downloads DuckDB's extension once.
install sqlite;
load sqlite;
attach 'cc-etl.db' as cc (type sqlite, read_only);

-- What did each month cost, and how much of the input came from the cache?
select
    date_trunc('month', activity_date) as month,
    round(sum(cost_usd), 2) as cost_usd,
    round(100.0 * sum(cache_read_tokens) / sum(input_tokens + cache_write_tokens + cache_read_tokens), 1) as cached_percent
from cc.bi_days
group by all
order by month;

-- Which tools fail, and how long do they take?
select
    tool_name,
    sum(call_count) as calls,
    round(100.0 * sum(error_count) / sum(call_count), 1) as error_percent,
    round(sum(duration_ms) / 1000.0 / nullif(sum(timed_count), 0), 1) as mean_seconds
from cc.bi_tools
group by all
order by calls desc
limit 10;

-- What did the person say, by week?
pivot (select date_trunc('week', said_at) as week, kind from cc.bi_feedback) on kind using count(*) order by week;

-- Do longer sessions draw more corrections and denials?
with quarters as (
    select ntile(4) over (order by message_count) as quarter, * from cc.bi_sessions
)

select
    quarter,
    min(message_count) as from_messages,
    max(message_count) as to_messages,
    round(avg(correction_count + denial_count), 2) as objections_per_session
from quarters
group by quarter
order by quarter;
