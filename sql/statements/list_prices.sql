select
    model, valid_from, origin, source, input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd,
    long_context_tokens, long_input_usd, long_output_usd, long_cache_write_5m_usd, long_cache_write_1h_usd,
    long_cache_read_usd, fast_multiplier, us_multiplier, batch_multiplier, web_search_usd
from model_prices
order by model, valid_from, origin
