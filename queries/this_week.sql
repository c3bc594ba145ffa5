-- This week against last week
-- How to read: seven days each; without a day the last seven days that are in the database.
-- :until - last day of this week; the last day with an answer without it
-- Bar: cost_usd
with weeks as (
    select
        response_costs.*,
        case
            when response_date > date(last_day.day, '-7 days') and response_date <= last_day.day then 'this week'
            when response_date > date(last_day.day, '-14 days') and response_date <= date(last_day.day, '-7 days')
                then 'last week'
        end as week
    from response_costs
    join (
        select coalesce(nullif(:until, ''), max(substr(responded_at, 1, 10))) as day
        from api_responses
    ) as last_day
)

select
    week,
    count(distinct response_date) as day_count,
    count(distinct session_id) as session_count,
    count(*) as response_count,
    sum(output_tokens) as output_tokens,
    round(sum(cost_usd), 4) as cost_usd,
    round(sum(case when agent_run_id is not null then cost_usd end), 4) as agent_cost_usd
from weeks
where week is not null
group by week
order by week desc;
