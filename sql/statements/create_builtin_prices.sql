create temp table if not exists builtin_prices (
    model text, valid_from text, source text,
    input_usd real, output_usd real, cache_write_5m_usd real, cache_write_1h_usd real, cache_read_usd real,
    long_context_tokens integer, long_input_usd real, long_output_usd real, long_cache_write_5m_usd real,
    long_cache_write_1h_usd real, long_cache_read_usd real, fast_multiplier real, us_multiplier real,
    batch_multiplier real default 0.5, web_search_usd real default 0.01
);
delete from builtin_prices;
