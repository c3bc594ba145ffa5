create view response_costs as
-- One row per API response, with the cost of each part and the price it is computed with. List prices, not a bill.
with
-- The days on which the price of a model changes.
changes as (
    select distinct
        model_aliases.model_name, model_aliases.model as priced_model, model_aliases.regional_model, model_prices.valid_from
    from model_aliases
    join model_prices
        on model_prices.model in (model_aliases.model, model_aliases.regional_model, model_aliases.model_name)
),

-- The price of a model from each of these days on: a user price before a built-in one, the name as written before its
-- alias, the latest price before older ones.
choices as (
    select
        changes.model_name,
        changes.priced_model,
        changes.valid_from,
        model_prices.model_price_id,
        row_number() over (
            partition by changes.model_name, changes.valid_from
            order by
                model_prices.origin desc, model_prices.model = changes.model_name desc,
                model_prices.model = changes.regional_model desc, model_prices.valid_from desc
        ) as place
    from changes
    join model_prices
        on model_prices.model in (changes.priced_model, changes.regional_model, changes.model_name)
        and model_prices.valid_from <= changes.valid_from
),

-- The first price of a model also applies to earlier days.
periods as (
    select
        model_name,
        priced_model,
        model_price_id,
        case lag(valid_from, 1, '') over (partition by model_name order by valid_from)
            when '' then ''
            else valid_from
        end as begins_on,
        lead(valid_from, 1, '9999') over (partition by model_name order by valid_from) as ends_before
    from choices
    where place = 1
),

-- The request options that change the price. There are few, so the price per token is computed once for each combination
-- instead of once per response.
ways as (
    select
        model_prices.*,
        is_long_context,
        is_fast,
        is_us,
        is_batch,
        case when is_fast then model_prices.fast_multiplier else 1.0 end as speed_multiplier,
        case when is_us then coalesce(model_prices.us_multiplier, 1.0) else 1.0 end as geo_multiplier,
        case when is_batch then model_prices.batch_multiplier else 1.0 end as tier_multiplier
    from model_prices
    cross join (select 0 as is_long_context union all select 1)
    cross join (select 0 as is_fast union all select 1)
    cross join (select 0 as is_us union all select 1)
    cross join (select 0 as is_batch union all select 1)
    where not is_long_context or model_prices.long_context_tokens is not null
),

rates as (
    select
        periods.model_name,
        periods.priced_model,
        periods.begins_on,
        periods.ends_before,
        ways.is_long_context,
        ways.is_fast,
        ways.is_us,
        ways.is_batch,
        case when ways.is_long_context then ways.long_context_tokens else -9e999 end as above_tokens,
        case when ways.is_long_context then 9e999 else coalesce(ways.long_context_tokens, 9e999) end as up_to_tokens,
        ways.model_price_id,
        ways.valid_from as price_valid_from,
        ways.origin as price_origin,
        ways.speed_multiplier,
        ways.geo_multiplier,
        ways.tier_multiplier,
        ways.speed_multiplier * ways.geo_multiplier * ways.tier_multiplier / 1000000 as per_token,
        case when ways.is_long_context then ways.long_input_usd else ways.input_usd end as input_rate,
        case when ways.is_long_context then ways.long_output_usd else ways.output_usd end as output_rate,
        case when ways.is_long_context then ways.long_cache_write_5m_usd else ways.cache_write_5m_usd end as write_5m_rate,
        case when ways.is_long_context then ways.long_cache_write_1h_usd else ways.cache_write_1h_usd end as write_1h_rate,
        case when ways.is_long_context then ways.long_cache_read_usd else ways.cache_read_usd end as read_rate,
        ways.web_search_usd
    from periods
    join ways on ways.model_price_id = periods.model_price_id
),

rated as (
    select
        api_responses.*,
        date(api_responses.responded_at, (
            select utc_offset from time_zone_offsets where begins_at <= api_responses.responded_at order by begins_at desc limit 1
        )) as response_date, -- local
        coalesce(rates.priced_model, api_responses.model) as priced_model,
        rates.model_price_id,
        rates.price_valid_from,
        rates.price_origin,
        rates.is_long_context,
        case api_responses.speed when 'fast' then rates.speed_multiplier else 1.0 end as speed_multiplier,
        coalesce(rates.geo_multiplier, 1.0) as geo_multiplier,
        case api_responses.service_tier when 'batch' then rates.tier_multiplier else 1.0 end as tier_multiplier,
        -- Cache writes without a split are priced as five-minute writes.
        coalesce(api_responses.cache_write_tokens, 0) - coalesce(api_responses.cache_write_1h_tokens, 0)
            as short_write_tokens,
        rates.per_token, rates.input_rate, rates.output_rate, rates.write_5m_rate, rates.write_1h_rate, rates.read_rate,
        rates.web_search_usd
    from api_responses
    left join rates
        on rates.model_name = api_responses.model
        and rates.is_fast = (api_responses.speed is 'fast')
        and rates.is_us = (api_responses.inference_geo is 'us')
        and rates.is_batch = (api_responses.service_tier is 'batch')
        and coalesce(substr(api_responses.responded_at, 1, 10), '') >= rates.begins_on
        and coalesce(substr(api_responses.responded_at, 1, 10), '') < rates.ends_before
        and coalesce(api_responses.input_tokens, 0) + coalesce(api_responses.cache_read_tokens, 0)
            + coalesce(api_responses.cache_write_tokens, 0) > rates.above_tokens
        and coalesce(api_responses.input_tokens, 0) + coalesce(api_responses.cache_read_tokens, 0)
            + coalesce(api_responses.cache_write_tokens, 0) <= rates.up_to_tokens
),

costs as (
    select
        rated.*,
        coalesce(rated.input_tokens, 0) * rated.input_rate * rated.per_token as input_cost,
        coalesce(rated.output_tokens, 0) * rated.output_rate * rated.per_token as output_cost,
        -- A missing cache price matters only if the cache is used.
        coalesce(
            rated.short_write_tokens * rated.write_5m_rate * rated.per_token,
            case rated.short_write_tokens when 0 then 0.0 end
        ) as write_5m_cost,
        case
            when coalesce(rated.cache_write_1h_tokens, 0) = 0 then 0.0
            else rated.cache_write_1h_tokens * rated.write_1h_rate * rated.per_token
        end as write_1h_cost,
        case
            when coalesce(rated.cache_read_tokens, 0) = 0 then 0.0
            else rated.cache_read_tokens * rated.read_rate * rated.per_token
        end as read_cost,
        coalesce(rated.web_search_count, 0) * rated.web_search_usd as search_cost,
        max(coalesce(rated.estimated_output_tokens, 0) - coalesce(rated.output_tokens, 0), 0)
            * rated.output_rate * rated.per_token as estimated_extra_cost
    from rated
),

totals as (
    select
        costs.*,
        coalesce(input_tokens, 0) + coalesce(cache_write_tokens, 0) + coalesce(cache_read_tokens, 0) as context_tokens,
        -- What the prompt would have cost without a cache, less what it cost.
        (coalesce(cache_write_tokens, 0) + coalesce(cache_read_tokens, 0)) * input_rate * per_token
            - write_5m_cost - write_1h_cost - read_cost as cache_savings,
        input_cost + output_cost + write_5m_cost + write_1h_cost + read_cost + search_cost as computed_cost
    from costs
)

select
    totals.api_response_id,
    totals.api_message_id,
    totals.id_scope, -- '' if the id is unique
    totals.kind,
    totals.request_id,
    totals.message_id,
    totals.session_id,
    totals.agent_run_id,
    projects.name as project,
    coalesce(
        (select bi_sessions.machine from bi_sessions where bi_sessions.session_id = totals.session_id),
        (select _message_machines.file_machine from _message_machines where _message_machines.message_id = totals.message_id)
    ) as machine, -- of its session, else of the file of its message: another line may give the message a session
    totals.model,
    totals.priced_model,
    totals.model_price_id,
    totals.price_valid_from,
    totals.price_origin,
    totals.usage_quality,
    totals.input_tokens,
    totals.output_tokens,
    totals.estimated_output_tokens,
    totals.cache_write_tokens,
    totals.cache_write_5m_tokens,
    totals.cache_write_1h_tokens,
    totals.cache_read_tokens,
    totals.context_tokens, -- the prompt: input, cache writes and cache reads
    totals.context_tokens + coalesce(totals.output_tokens, 0) as total_tokens,
    totals.web_search_count,
    coalesce(totals.is_long_context, 0) as is_long_context,
    totals.speed_multiplier,
    totals.geo_multiplier,
    totals.tier_multiplier,
    -- Rounded to ten places; round(x, 10) is slow because it formats and parses text.
    round(totals.input_cost * 1e10) / 1e10 as input_cost_usd,
    round(totals.output_cost * 1e10) / 1e10 as output_cost_usd,
    round(totals.write_5m_cost * 1e10) / 1e10 as cache_write_5m_cost_usd,
    round(totals.write_1h_cost * 1e10) / 1e10 as cache_write_1h_cost_usd,
    round(totals.read_cost * 1e10) / 1e10 as cache_read_cost_usd,
    round(totals.search_cost * 1e10) / 1e10 as web_search_cost_usd,
    round(totals.computed_cost * 1e10) / 1e10 as computed_cost_usd, -- NULL if the price is unknown
    totals.recorded_cost_usd, -- as recorded by Claude Code
    round(coalesce(totals.recorded_cost_usd, totals.computed_cost) * 1e10) / 1e10 as cost_usd, -- recorded, else computed
    round(coalesce(totals.recorded_cost_usd, totals.computed_cost + totals.estimated_extra_cost) * 1e10) / 1e10
        as estimated_cost_usd, -- with estimates for placeholders
    round(totals.cache_savings * 1e10) / 1e10 as cache_savings_usd, -- less than 0 if the cache was written more than read
    totals.response_date, -- local; the day of a price is UTC, so that the cost is the same in every time zone
    totals.responded_at
from totals
left join sessions on sessions.session_id = totals.session_id
left join projects on projects.project_id = sessions.project_id;
