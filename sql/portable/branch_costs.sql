-- One row per project, git branch and machine.
-- Reads: owned_response
with named as (
    select
        owned_response.project,
        case when owned_response.git_branch <> '' then owned_response.git_branch end as git_branch,
        owned_response.machine,
        owned_response.session_id,
        owned_response.output_tokens,
        owned_response.cost_usd,
        owned_response.estimated_cost_usd,
        owned_response.responded_at
    from owned_response
)

select
    named.project,
    named.git_branch,
    named.machine,
    count(distinct named.session_id) as session_count,
    count(*) as response_count,
    sum(named.output_tokens) as output_tokens,
    sum(named.cost_usd) as cost_usd,
    sum(named.estimated_cost_usd) as estimated_cost_usd,
    sum(case when named.cost_usd is null then 1 else 0 end) as unpriced_count,
    min(named.responded_at) as first_responded_at,
    max(named.responded_at) as last_responded_at
from named
group by named.project, named.git_branch, named.machine
