-- When the work is done
-- How to read: prompts by weekday (0 is Sunday) and hour, UTC unless an offset is given.
-- :offset - hours from UTC, like +02:00; UTC without it
-- Bar: prompt_count
select
    cast(strftime('%w', said_at, coalesce(nullif(:offset, ''), '+00:00')) as integer) as weekday,
    cast(strftime('%H', said_at, coalesce(nullif(:offset, ''), '+00:00')) as integer) as hour,
    count(*) as prompt_count
from prompts
where said_at is not null and kind <> 'sdk_prompt'
group by weekday, hour
order by weekday, hour;
