-- Sub-agents without a result, by type.
with lost as (
    select
        agent_returns.*,
        row_number() over (partition by agent_type order by cost_usd desc, started_at, session_id, agent_id) as place
    from agent_returns
    where is_without_result
        and cost_usd > 0
        and coalesce(project, '') like '%' || coalesce(nullif(:project, ''), '') || '%'
        and coalesce(started_date, '0000') between coalesce(nullif(:since, ''), '0000') and coalesce(nullif(:until, ''), '9999')
)

select
    printf('Sub-agents of type %s that returned nothing', coalesce(agent_type, 'unknown')) as finding,
    printf(
        '%s ended without a result, after %s.',
        case count(*) when 1 then '1 agent' else printf('%,d agents', count(*)) end,
        case sum(response_count) when 1 then '1 response' else printf('%,d responses', sum(response_count)) end
    ) as evidence,
    'What an agent found is lost when it is stopped: give it a smaller task, or stop it early.' as advice,
    round(sum(cost_usd), 4) as cost_usd,
    count(*) as occurrence_count,
    max(case when place = 1 then message_id end) as message_id,
    max(case when place = 1 then coalesce(description, outcome) end) as example,
    'agent_results' as question
from lost
group by agent_type
