-- When the work is done
-- How to read: prompts by weekday and hour, local. In SQL, weekday 0 is Sunday.
-- Group: conversation
-- Bar: prompt_count
-- Chart: hours weekday hour prompt_count
with said as (
    select datetime(said_at, (
        select utc_offset from time_zone_offsets where begins_at <= said_at order by begins_at desc limit 1
    )) as local_at
    from prompts
    where said_at is not null and kind <> 'sdk_prompt'
)

select
    cast(strftime('%w', local_at) as integer) as weekday, -- 0 is Sunday
    cast(strftime('%H', local_at) as integer) as hour,
    count(*) as prompt_count
from said
group by weekday, hour
order by (weekday + 6) % 7, hour;
