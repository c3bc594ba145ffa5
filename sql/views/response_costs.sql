create view response_costs as
-- One row per answer of the API, with what each part of it cost and the price it was computed by. List prices, not a bill.
with
-- Every day on which the price of a model changes.
changes as (
    select distinct model_aliases.model_name, model_aliases.model as priced_model, model_prices.valid_from
    from model_aliases
    join model_prices on model_prices.model in (model_aliases.model, model_aliases.model_name)
),

-- The price of a model from one of these days on: the user's before the built-in one, the name as written before its
-- alias, the latest that holds.
choices as (
    select
        changes.model_name,
        changes.priced_model,
        changes.valid_from,
        model_prices.model_price_id,
        row_number() over (
            partition by changes.model_name, changes.valid_from
            order by
                model_prices.origin desc, model_prices.model = changes.model_name desc, model_prices.valid_from desc
        ) as place
    from changes
    join model_prices
        on model_prices.model in (changes.priced_model, changes.model_name)
        and model_prices.valid_from <= changes.valid_from
),

-- What is older than the first price of a model has that one.
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

rated as (
    select
        api_responses.*,
        substr(api_responses.responded_at, 1, 10) as response_date,
        coalesce(periods.priced_model, api_responses.model) as priced_model,
        model_prices.model_price_id,
        model_prices.valid_from as price_valid_from,
        model_prices.origin as price_origin,
        coalesce(api_responses.input_tokens, 0) + coalesce(api_responses.cache_read_tokens, 0)
            + coalesce(api_responses.cache_write_tokens, 0) > model_prices.long_context_tokens as is_long_context,
        case api_responses.speed when 'fast' then model_prices.fast_multiplier else 1.0 end as speed_multiplier,
        case api_responses.inference_geo when 'us' then coalesce(model_prices.us_multiplier, 1.0) else 1.0 end
            as geo_multiplier,
        case api_responses.service_tier when 'batch' then model_prices.batch_multiplier else 1.0 end as tier_multiplier,
        -- Writes that are not told apart are priced as five-minute ones.
        coalesce(api_responses.cache_write_tokens, 0) - coalesce(api_responses.cache_write_1h_tokens, 0)
            as short_write_tokens,
        model_prices.input_usd, model_prices.output_usd, model_prices.cache_write_5m_usd, model_prices.cache_write_1h_usd,
        model_prices.cache_read_usd, model_prices.long_input_usd, model_prices.long_output_usd,
        model_prices.long_cache_write_5m_usd, model_prices.long_cache_write_1h_usd, model_prices.long_cache_read_usd,
        model_prices.web_search_usd
    from api_responses
    left join periods
        on periods.model_name = api_responses.model
        and coalesce(substr(api_responses.responded_at, 1, 10), '') >= periods.begins_on
        and coalesce(substr(api_responses.responded_at, 1, 10), '') < periods.ends_before
    left join model_prices on model_prices.model_price_id = periods.model_price_id
),

parts as (
    select
        rated.*,
        rated.speed_multiplier * rated.geo_multiplier * rated.tier_multiplier / 1000000 as per_token,
        case when rated.is_long_context then rated.long_input_usd else rated.input_usd end as input_rate,
        case when rated.is_long_context then rated.long_output_usd else rated.output_usd end as output_rate,
        case when rated.is_long_context then rated.long_cache_write_5m_usd else rated.cache_write_5m_usd end
            as write_5m_rate,
        case when rated.is_long_context then rated.long_cache_write_1h_usd else rated.cache_write_1h_usd end
            as write_1h_rate,
        case when rated.is_long_context then rated.long_cache_read_usd else rated.cache_read_usd end as read_rate
    from rated
),

costs as (
    select
        parts.*,
        coalesce(parts.input_tokens, 0) * parts.input_rate * parts.per_token as input_cost,
        coalesce(parts.output_tokens, 0) * parts.output_rate * parts.per_token as output_cost,
        -- A model that has no price for the cache costs nothing for it as long as it is not used.
        case when parts.short_write_tokens = 0 then 0.0 else parts.short_write_tokens * parts.write_5m_rate * parts.per_token end
            as write_5m_cost,
        case
            when coalesce(parts.cache_write_1h_tokens, 0) = 0 then 0.0
            else parts.cache_write_1h_tokens * parts.write_1h_rate * parts.per_token
        end as write_1h_cost,
        case
            when coalesce(parts.cache_read_tokens, 0) = 0 then 0.0
            else parts.cache_read_tokens * parts.read_rate * parts.per_token
        end as read_cost,
        coalesce(parts.web_search_count, 0) * parts.web_search_usd as search_cost,
        max(coalesce(parts.estimated_output_tokens, 0) - coalesce(parts.output_tokens, 0), 0)
            * parts.output_rate * parts.per_token as estimated_extra_cost
    from parts
),

totals as (
    select
        costs.*,
        input_cost + output_cost + write_5m_cost + write_1h_cost + read_cost + search_cost as computed_cost
    from costs
)

select
    totals.api_response_id,
    totals.api_message_id,
    totals.kind,
    totals.message_id,
    totals.session_id,
    totals.agent_key,
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
    totals.web_search_count,
    coalesce(totals.is_long_context, 0) as is_long_context,
    totals.speed_multiplier,
    totals.geo_multiplier,
    totals.tier_multiplier,
    -- Rounded to ten places; round(x, 10) would write the number as text and read it again.
    round(totals.input_cost * 1e10) / 1e10 as input_cost_usd,
    round(totals.output_cost * 1e10) / 1e10 as output_cost_usd,
    round(totals.write_5m_cost * 1e10) / 1e10 as cache_write_5m_cost_usd,
    round(totals.write_1h_cost * 1e10) / 1e10 as cache_write_1h_cost_usd,
    round(totals.read_cost * 1e10) / 1e10 as cache_read_cost_usd,
    round(totals.search_cost * 1e10) / 1e10 as web_search_cost_usd,
    round(totals.computed_cost * 1e10) / 1e10 as computed_cost_usd, -- NULL when the price is not known
    totals.recorded_cost_usd, -- as Claude Code wrote it with the answer
    round(coalesce(totals.recorded_cost_usd, totals.computed_cost) * 1e10) / 1e10 as cost_usd, -- recorded, else computed
    round(coalesce(totals.recorded_cost_usd, totals.computed_cost + totals.estimated_extra_cost) * 1e10) / 1e10
        as estimated_cost_usd, -- with the estimated output where the recorded one is a placeholder
    totals.response_date,
    totals.responded_at
from totals;
