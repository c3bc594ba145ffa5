-- Sums of responses and their cost. In a new database this runs in parallel with the other scripts.
delete from _response_parts
where part_number in (select part_number from touched_response_parts);

insert into _response_parts (
    part_number, session_id, model, machine, response_count, input_tokens, output_tokens, estimated_output_tokens,
    cache_write_tokens, cache_read_tokens, web_search_count, unpriced_count, cost_units, estimated_cost_units,
    agent_cost_units, activity_date
)
with responses as materialized ( -- computes each cost once
    select
        touched_response_parts.part_number,
        response_costs.session_id,
        response_costs.response_date,
        response_costs.model,
        response_costs.message_id,
        response_costs.agent_run_id,
        response_costs.input_tokens,
        response_costs.output_tokens,
        response_costs.estimated_output_tokens,
        response_costs.cache_write_tokens,
        response_costs.cache_read_tokens,
        response_costs.web_search_count,
        round(response_costs.cost_usd * 1e10) as cost_units,
        round(response_costs.estimated_cost_usd * 1e10) as estimated_cost_units
    from touched_response_parts
    cross join response_costs
        on response_costs.api_response_id
        between touched_response_parts.part_number << 8 and (touched_response_parts.part_number << 8) + 255
)

select
    responses.part_number,
    coalesce(responses.session_id, ''),
    coalesce(responses.model, ''),
    case
        when responses.session_id is not null then ''
        else coalesce((
            select _message_machines.file_machine from _message_machines where _message_machines.message_id = responses.message_id
        ), '')
    end,
    count(*),
    sum(coalesce(responses.input_tokens, 0)),
    sum(coalesce(responses.output_tokens, 0)),
    sum(max(coalesce(responses.estimated_output_tokens, 0), coalesce(responses.output_tokens, 0))),
    sum(coalesce(responses.cache_write_tokens, 0)),
    sum(coalesce(responses.cache_read_tokens, 0)),
    sum(coalesce(responses.web_search_count, 0)),
    sum(responses.cost_units is null),
    sum(responses.cost_units),
    sum(responses.estimated_cost_units),
    sum(case when responses.agent_run_id is not null then responses.cost_units end),
    responses.response_date
from responses
group by 1, 2, responses.response_date, 3, 4;
