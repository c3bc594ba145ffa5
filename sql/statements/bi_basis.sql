-- What the tables for BI tools depend on besides the transcripts: prices and words.
select json_array(
    'price', model, valid_from, origin, input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd,
    long_context_tokens, long_input_usd, long_output_usd, long_cache_write_5m_usd, long_cache_write_1h_usd,
    long_cache_read_usd, fast_multiplier, us_multiplier, batch_multiplier, web_search_usd
) as basis
from model_prices
union all
select json_array('alias', model_name, model)
from model_aliases
where origin = 'user'
union all
select json_array('trivial', trivial_text)
from trivial_texts
where is_used
union all
select json_array('correction', correction_phrase)
from correction_phrases
where is_used
order by 1;
