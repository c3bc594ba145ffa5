create view limit_usage as
-- One row per sample of a limit, with the usage in this database since the sample before it. The limits are those of an account: what
-- other machines used, or other programs, is in the percentage and not in the cost.
with samples as (
    select
        limit_sample_id,
        limit_name,
        resets_at,
        sampled_at,
        used_percentage,
        -- Before its first sample, the limit was unused since the start of its period.
        coalesce(
            lag(sampled_at) over periods,
            strftime('%Y-%m-%dT%H:%M:%fZ', resets_at, case limit_name when 'five_hour' then '-5 hours' when 'seven_day' then '-7 days' end)
        ) as previous_at,
        used_percentage - coalesce(lag(used_percentage) over periods, 0) as added_percentage
    from limit_samples
    window periods as (partition by limit_name, resets_at order by sampled_at, used_percentage)
),

sums as (
    select
        samples.limit_sample_id,
        count(*) as response_count,
        sum(response_costs.total_tokens) as total_tokens,
        sum(response_costs.cost_usd) as cost_usd,
        sum(response_costs.cost_usd is null) as unpriced_count
    from samples
    cross join response_costs
        on response_costs.responded_at > samples.previous_at
        and response_costs.responded_at <= samples.sampled_at
    group by samples.limit_sample_id
)

select
    samples.limit_name,
    samples.resets_at,
    samples.previous_at, -- time of the sample before it; of the first one the start of the period
    samples.sampled_at,
    samples.used_percentage,
    round(samples.added_percentage, 4) as added_percentage, -- since previous_at
    coalesce(sums.response_count, 0) as response_count,
    coalesce(sums.total_tokens, 0) as total_tokens,
    round(sums.cost_usd, 6) as cost_usd,
    coalesce(sums.unpriced_count, 0) as unpriced_count,
    round(samples.added_percentage / nullif(sums.cost_usd, 0), 4) as percent_per_usd
from samples
left join sums on sums.limit_sample_id = samples.limit_sample_id;
