-- One row per price of a model from a day on, in USD per million tokens. Rows of the user override built-in rows.
-- Key: model, valid_from, origin
-- Columns:
--   machine name
--   model word
--   origin word
--   input_usd double
--   output_usd double
--   cache_write_5m_usd double
--   cache_write_1h_usd double
--   cache_read_usd double
--   long_context_tokens integer
--   long_input_usd double
--   long_output_usd double
--   long_cache_write_5m_usd double
--   long_cache_write_1h_usd double
--   long_cache_read_usd double
--   fast_multiplier double
--   us_multiplier double
--   batch_multiplier double
--   web_search_usd double
--   valid_from date
--   checked_on date
--   source content
select
    machines.machine,
    model_prices.model,
    model_prices.origin,
    model_prices.input_usd,
    model_prices.output_usd,
    model_prices.cache_write_5m_usd,
    model_prices.cache_write_1h_usd,
    model_prices.cache_read_usd,
    model_prices.long_context_tokens,
    model_prices.long_input_usd,
    model_prices.long_output_usd,
    model_prices.long_cache_write_5m_usd,
    model_prices.long_cache_write_1h_usd,
    model_prices.long_cache_read_usd,
    model_prices.fast_multiplier,
    model_prices.us_multiplier,
    model_prices.batch_multiplier,
    model_prices.web_search_usd,
    model_prices.valid_from,
    model_prices.checked_on,
    model_prices.source
from model_prices
cross join (select distinct machine from _machines) as machines
order by 1, model_prices.model, model_prices.valid_from, model_prices.origin;
