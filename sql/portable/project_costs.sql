-- One row per repository, its worktrees included, and machine.
-- Reads: owned_response, owned_session, dim_project
with located as (
    select
        owned_session.session_id,
        coalesce(dim_project.repository_path, dim_project.path, dim_project.project_directory) as project_path
    from owned_session
    inner join dim_project
        on dim_project.machine = owned_session.machine and dim_project.project_directory = owned_session.project_directory
)

select
    located.project_path,
    max(owned_response.project) as project,
    owned_response.machine,
    count(distinct owned_response.session_id) as session_count,
    count(*) as response_count,
    sum(owned_response.input_tokens) as input_tokens,
    sum(owned_response.output_tokens) as output_tokens,
    sum(owned_response.cache_write_tokens) as cache_write_tokens,
    sum(owned_response.cache_read_tokens) as cache_read_tokens,
    sum(owned_response.total_tokens) as total_tokens,
    sum(owned_response.cost_usd) as cost_usd,
    sum(owned_response.estimated_cost_usd) as estimated_cost_usd,
    sum(owned_response.cache_savings_usd) as cache_savings_usd,
    sum(case when owned_response.cost_usd is null then 1 else 0 end) as unpriced_count,
    min(owned_response.responded_at) as first_responded_at,
    max(owned_response.responded_at) as last_responded_at
from owned_response
left join located on located.session_id = owned_response.session_id
group by located.project_path, owned_response.machine
