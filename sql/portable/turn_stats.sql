-- One row per project and model: number of turns, their cost and duration.
-- Reads: owned_turn
with placed as (
    select
        owned_turn.project,
        owned_turn.model,
        owned_turn.tool_call_count,
        owned_turn.cost_usd,
        owned_turn.duration_ms,
        owned_turn.is_interrupted,
        row_number() over (
            partition by owned_turn.project, owned_turn.model
            order by case when owned_turn.duration_ms is null then 1 else 0 end, owned_turn.duration_ms
        ) as place,
        count(owned_turn.duration_ms) over (partition by owned_turn.project, owned_turn.model) as timed_count
    from owned_turn
)

select
    placed.project,
    placed.model,
    count(*) as turn_count,
    sum(placed.tool_call_count) as tool_call_count,
    sum(placed.cost_usd) as cost_usd,
    max(placed.cost_usd) as max_cost_usd,
    max(
        case when 2 * placed.place in (placed.timed_count, placed.timed_count + 1) then placed.duration_ms end
    ) as p50_duration_ms,
    max(
        case when 100 * placed.place between 95 * placed.timed_count and 95 * placed.timed_count + 99 then placed.duration_ms end
    ) as p95_duration_ms,
    sum(case when placed.is_interrupted then 1 else 0 end) as interrupted_count
from placed
group by placed.project, placed.model
