-- Days that have rows now, or had some before.
create temp table touched_days as
select activity_date
from bi_session_days
where session_id in (select session_id from touched_sessions union all select '');

delete from bi_session_days
where session_id in (select session_id from touched_sessions union all select '');

insert into bi_session_days (
    session_id, activity_date, model, machine, project, response_count, input_tokens, output_tokens,
    estimated_output_tokens, cache_write_tokens, cache_read_tokens, web_search_count, unpriced_count, cost_usd,
    estimated_cost_usd, agent_cost_usd
)
select
    _response_parts.session_id,
    _response_parts.activity_date,
    _response_parts.model,
    coalesce(session_machines.machine, _response_parts.machine),
    coalesce(projects.name, ''),
    sum(_response_parts.response_count),
    sum(_response_parts.input_tokens),
    sum(_response_parts.output_tokens),
    sum(_response_parts.estimated_output_tokens),
    sum(_response_parts.cache_write_tokens),
    sum(_response_parts.cache_read_tokens),
    sum(_response_parts.web_search_count),
    sum(_response_parts.unpriced_count),
    round(sum(_response_parts.cost_units) / 1e10, 6),
    round(sum(_response_parts.estimated_cost_units) / 1e10, 6),
    round(sum(_response_parts.agent_cost_units) / 1e10, 6)
from _response_parts
left join sessions on sessions.session_id = _response_parts.session_id
left join projects on projects.project_id = sessions.project_id
left join session_machines on session_machines.session_id = _response_parts.session_id
where _response_parts.session_id in (select session_id from touched_sessions union all select '')
group by 1, 2, 3, 4;

insert into touched_days (activity_date)
select activity_date
from bi_session_days
where session_id in (select session_id from touched_sessions union all select '');

delete from bi_days
where activity_date in (select activity_date from touched_days)
    or activity_date is null;

insert into bi_days (
    activity_date, model, project, machine, session_count, response_count, input_tokens, output_tokens,
    estimated_output_tokens, cache_write_tokens, cache_read_tokens, web_search_count, unpriced_count, cost_usd,
    estimated_cost_usd, agent_cost_usd, day_began_at, day_began_unix
)
select
    activity_date,
    model,
    project,
    machine,
    count(distinct session_id),
    sum(response_count),
    sum(input_tokens),
    sum(output_tokens),
    sum(estimated_output_tokens),
    sum(cache_write_tokens),
    sum(cache_read_tokens),
    sum(web_search_count),
    sum(unpriced_count),
    round(sum(cost_usd), 6),
    round(sum(estimated_cost_usd), 6),
    round(sum(agent_cost_usd), 6),
    activity_date || ' 00:00:00.000',
    unixepoch(activity_date)
from bi_session_days
where activity_date in (select activity_date from touched_days)
    or activity_date is null
group by activity_date, model, project, machine;

drop table touched_days;
