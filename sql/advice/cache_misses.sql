-- Context that was written to the cache again, by cause. A compaction is no waste: it makes the context shorter.
with misses as (
    select
        cache_rewrites.*,
        row_number() over (
            partition by cause
            order by rewritten_cost_usd desc, responded_at, session_id, model, previous_tokens, cache_read_tokens
        ) as place
    from cache_rewrites
    where cause <> 'compaction'
        and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
        and coalesce(response_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
),

causes as (
    select
        cause,
        count(*) as occurrence_count,
        sum(rewritten_tokens) as rewritten_tokens,
        round(sum(rewritten_cost_usd), 4) as cost_usd,
        max(case when place = 1 then message_id end) as message_id,
        max(case when place = 1 then previous_tokens end) as previous_tokens,
        max(case when place = 1 then round(pause_minutes) end) as pause_minutes,
        max(case when place = 1 then previous_model || ' -> ' || model end) as models
    from misses
    group by cause
)

select
    case cause
        when 'pause' then 'Pauses longer than the cache lives'
        when 'restart' then 'Sessions resumed after a restart'
        when 'model switch' then 'Switches of the model within a session'
        else 'Caches missed for a cause that transcripts do not show'
    end as finding,
    printf(
        '%s wrote %,d tokens to the cache that had been there before.',
        case occurrence_count when 1 then '1 response' else printf('%,d responses', occurrence_count) end, rewritten_tokens
    ) as evidence,
    case cause
        when 'pause' then 'Finish the task or run /compact before a break, and begin a new session after it.'
        when 'restart' then 'Begin a new session instead, or run /compact before you leave one.'
        when 'model switch' then 'Switch at the beginning of a session, or after /clear.'
        else 'Other tools, MCP servers, plugins or memory files than before would be one: change them between sessions.'
    end as advice,
    cost_usd,
    occurrence_count,
    message_id,
    case cause
        when 'model switch' then models
        when 'unknown' then printf('%,d tokens were in the cache', previous_tokens)
        else printf('%,d tokens, after a pause of %,d minutes', previous_tokens, pause_minutes)
    end as example,
    'cache_misses' || case instr(cause, ' ') when 0 then ' cause=' || cause else ' ''cause=' || cause || '''' end as question
from causes
