create view cost_reconciliation as
-- One row per session whose cost Claude Code recorded: computed and recorded cost.
with noted as (
    -- Totals only grow, so the largest is the last.
    select
        session_id,
        max(json_extract(payload_json, '$.totalCostUSD')) as total_cost_usd,
        max(json_extract(payload_json, '$.hasUnknownModelCost')) as has_unknown_model
    from events
    where type = 'cost-state' and session_id is not null
    group by session_id
),

ours as (
    select
        session_id,
        sum(computed_cost_usd) as computed_cost_usd,
        sum(recorded_cost_usd) as recorded_cost_usd,
        sum(case when recorded_cost_usd is not null then computed_cost_usd end) as computed_of_recorded_usd,
        sum(estimated_cost_usd) as estimated_cost_usd,
        sum(computed_cost_usd is null) as unpriced_count,
        sum(usage_quality <> 'final') as unsure_count
    from response_costs
    group by session_id
),

compared as (
    select session_id from noted
    union
    select session_id from ours where recorded_cost_usd is not null
)

select
    compared.session_id,
    (select bi_sessions.machine from bi_sessions where bi_sessions.session_id = compared.session_id) as machine,
    round(ours.computed_cost_usd, 6) as computed_cost_usd, -- from the usage on the lines
    round(ours.estimated_cost_usd, 6) as estimated_cost_usd,
    round(noted.total_cost_usd, 6) as noted_cost_usd, -- Claude Code's cost-state
    round(ours.recorded_cost_usd, 6) as recorded_cost_usd, -- costUSD on the lines
    round(noted.total_cost_usd - coalesce(ours.computed_cost_usd, 0), 6) as noted_difference_usd,
    round(ours.recorded_cost_usd - ours.computed_of_recorded_usd, 6) as recorded_difference_usd,
    case
        when noted.total_cost_usd is null and abs(ours.recorded_cost_usd - ours.computed_of_recorded_usd) < 0.005
            then 'equal'
        when noted.total_cost_usd is null then 'the price of the day was another'
        when abs(noted.total_cost_usd - coalesce(ours.computed_cost_usd, 0)) < 0.005 then 'equal'
        when ours.session_id is null then 'no line of the session carries usage'
        when ours.unpriced_count > 0 or noted.has_unknown_model then 'a model without a price'
        when ours.unsure_count > 0 then 'output tokens that are only placeholders on disk'
        when noted.total_cost_usd > ours.computed_cost_usd
            then 'side calls that no line shows: titles, web searches, summaries of pages'
        else 'lines that Claude Code did not count, such as those of a session it resumed'
    end as reason
from compared
left join noted on noted.session_id = compared.session_id
left join ours on ours.session_id = compared.session_id;
