-- name: check_prices
-- The models that have responses without a price, or a price that was checked more than 90 days before the last response.
select
    response_costs.model,
    case
        when count(*) = count(response_costs.computed_cost_usd) then 'old price'
        when count(response_costs.model_price_id) = 0 then 'no price'
        else 'a rate is missing'
    end as problem,
    count(*) as response_count,
    count(*) - count(response_costs.computed_cost_usd) as unpriced_count,
    substr(max(response_costs.responded_at), 1, 10) as last_response,
    max(model_prices.valid_from) as price_from,
    max(model_prices.checked_on) as price_checked_on,
    response_costs.priced_model as import_as
from response_costs
left join model_prices using (model_price_id)
group by response_costs.model, response_costs.priced_model
having count(*) > count(response_costs.computed_cost_usd)
    or julianday(max(response_costs.responded_at)) - julianday(max(model_prices.checked_on)) > 90
order by unpriced_count desc, response_count desc, response_costs.model

-- name: create_builtin_prices
create temp table if not exists builtin_prices (
    model text, valid_from text, source text,
    input_usd real, output_usd real, cache_write_5m_usd real, cache_write_1h_usd real, cache_read_usd real,
    long_context_tokens integer, long_input_usd real, long_output_usd real, long_cache_write_5m_usd real,
    long_cache_write_1h_usd real, long_cache_read_usd real, fast_multiplier real, us_multiplier real,
    batch_multiplier real default 0.5, web_search_usd real default 0.01, checked_on text
);
delete from builtin_prices;

-- name: delete_user_price
delete from model_prices
where model = ?1 and valid_from = ?2 and origin = 'user'

-- name: list_prices
select
    model, valid_from, origin, source, input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd,
    long_context_tokens, long_input_usd, long_output_usd, long_cache_write_5m_usd, long_cache_write_1h_usd,
    long_cache_read_usd, fast_multiplier, us_multiplier, batch_multiplier, web_search_usd, checked_on
from model_prices
order by model glob '*.claude-*', model, valid_from, origin

-- name: refresh_builtin_prices
-- Puts the prices of this program in place of those that the database has; the user's stay. What is the same is left
-- alone, so that a sync with nothing new writes nothing.
delete from model_prices
where origin = 'builtin'
    and not exists (
        select 1
        from builtin_prices
        where (
            builtin_prices.model, builtin_prices.valid_from, builtin_prices.source, builtin_prices.input_usd,
            builtin_prices.output_usd, builtin_prices.batch_multiplier, builtin_prices.web_search_usd,
            builtin_prices.checked_on
        ) = (
            model_prices.model, model_prices.valid_from, model_prices.source, model_prices.input_usd,
            model_prices.output_usd, model_prices.batch_multiplier, model_prices.web_search_usd, model_prices.checked_on
        )
            and builtin_prices.cache_write_5m_usd is model_prices.cache_write_5m_usd
            and builtin_prices.cache_write_1h_usd is model_prices.cache_write_1h_usd
            and builtin_prices.cache_read_usd is model_prices.cache_read_usd
            and builtin_prices.long_context_tokens is model_prices.long_context_tokens
            and builtin_prices.long_input_usd is model_prices.long_input_usd
            and builtin_prices.long_output_usd is model_prices.long_output_usd
            and builtin_prices.long_cache_write_5m_usd is model_prices.long_cache_write_5m_usd
            and builtin_prices.long_cache_write_1h_usd is model_prices.long_cache_write_1h_usd
            and builtin_prices.long_cache_read_usd is model_prices.long_cache_read_usd
            and builtin_prices.fast_multiplier is model_prices.fast_multiplier
            and builtin_prices.us_multiplier is model_prices.us_multiplier
    );

insert into model_prices (
    model, valid_from, origin, source, input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd,
    long_context_tokens, long_input_usd, long_output_usd, long_cache_write_5m_usd, long_cache_write_1h_usd,
    long_cache_read_usd, fast_multiplier, us_multiplier, batch_multiplier, web_search_usd, checked_on
)
select
    model, valid_from, 'builtin', source, input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd,
    long_context_tokens, long_input_usd, long_output_usd, long_cache_write_5m_usd, long_cache_write_1h_usd,
    long_cache_read_usd, fast_multiplier, us_multiplier, batch_multiplier, web_search_usd, checked_on
from builtin_prices
where not exists (
    select 1
    from model_prices
    where model_prices.model = builtin_prices.model
        and model_prices.valid_from = builtin_prices.valid_from
        and model_prices.origin = 'builtin'
);
