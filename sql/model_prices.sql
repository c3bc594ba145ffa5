-- The prices that ship with cc-etl: list prices in USD per million tokens, valid from the given day. Rows are added, never
-- changed: a new price is a new row with a later day. The day of a model's first row does not matter, as that row also applies
-- to earlier responses; it is the date in the model's name if it has one.
--
-- Sources: the price file of LiteLLM in the release named, whose prices of retired models are only in old releases, and where
-- a day matters what says so:
-- - Long context of Opus 4.6 and Sonnet 4.6: since 2026-03-13 the whole window has the standard price
--   (agentmastered.com/blog/1m-context-ga); before that, Anthropic's price page as quoted on 2026-02-18 by the
--   claude-code-ultimate-guide (commit 78f4dc4b42).
-- - Sonnet 5.5: platform.claude.com/docs/en/models/sonnet-5-5/overview had 0.20 for cache reads at first; the reduction to 0.10 from
--   2026-10-07 on is in the notes of PromptFuel 1.0.23 (github.com/TheKrush/PromptFuel), and LiteLLM 1.109.1 has 0.10.
--
-- Cache writes are 1.25 (5 minutes) and 2 times (1 hour) the input price for every model; cache reads are not always a
-- tenth. If LiteLLM's 1-hour price of a Claude 3 model contradicts that, the rule is used.
--
-- claude-fable-5-2 and claude-mythos-5-2 have no price yet: only a reseller gives one.
insert into builtin_prices (
    model, valid_from, source,
    input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd,
    long_context_tokens, long_input_usd, long_output_usd, long_cache_write_5m_usd, long_cache_write_1h_usd,
    long_cache_read_usd, fast_multiplier, us_multiplier
)
values
    -- model, from, source                                          in    out   w5m     w1h   read   long: from, in, out, w5m, w1h, read     fast  us
    ('claude-fable-5-1', '2026-01-01', 'LiteLLM 1.109.1',           10,   50,   12.5,   20,   0.25,  null, null, null, null, null, null,    null, 1.1),
    ('claude-fable-5', '2026-01-01', 'LiteLLM 1.109.1',             10,   50,   12.5,   20,   1,     null, null, null, null, null, null,    null, 1.1),
    ('claude-mythos-5-1', '2026-01-01', 'LiteLLM 1.109.1',          10,   50,   12.5,   20,   0.25,  null, null, null, null, null, null,    null, 1.1),
    ('claude-mythos-5', '2026-01-01', 'LiteLLM 1.109.1',            10,   50,   12.5,   20,   1,     null, null, null, null, null, null,    null, 1.1),
    ('claude-mythos-preview', '2026-01-01', 'LiteLLM 1.109.1',      10,   50,   12.5,   20,   1,     null, null, null, null, null, null,    null, 1.1),

    ('claude-opus-5-5', '2026-01-01', 'LiteLLM 1.109.1',            4,    20,   5,      8,    0.2,   null, null, null, null, null, null,    2,    1.1),
    ('claude-opus-5', '2026-01-01', 'LiteLLM 1.109.1',              5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    2,    1.1),
    ('claude-opus-4-8', '2026-01-01', 'LiteLLM 1.109.1',            5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    2,    1.1),
    ('claude-opus-4-7', '2026-04-16', 'LiteLLM 1.109.1',            5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    6,    1.1),
    ('claude-opus-4-6', '2026-02-05', 'LiteLLM 1.81.13',            5,    25,   6.25,   10,   0.5,   200000, 10, 37.5, 12.5, 20, 1,         6,    1.1),
    ('claude-opus-4-6', '2026-03-13', 'LiteLLM 1.83.14',            5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    6,    1.1),
    ('claude-opus-4-5', '2025-11-01', 'LiteLLM 1.109.1',            5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    null, null),
    ('claude-opus-4-1', '2025-08-05', 'LiteLLM 1.97.0',             15,   75,   18.75,  30,   1.5,   null, null, null, null, null, null,    null, null),
    ('claude-opus-4', '2025-05-14', 'LiteLLM 1.97.0',               15,   75,   18.75,  30,   1.5,   null, null, null, null, null, null,    null, null),
    ('claude-3-opus', '2024-02-29', 'LiteLLM 1.72.0',               15,   75,   18.75,  30,   1.5,   null, null, null, null, null, null,    null, null),

    ('claude-sonnet-5-5', '2026-09-28', 'platform.claude.com',      2,    10,   2.5,    4,    0.2,   null, null, null, null, null, null,    null, 1.1),
    ('claude-sonnet-5-5', '2026-10-07', 'LiteLLM 1.109.1',          2,    10,   2.5,    4,    0.1,   null, null, null, null, null, null,    null, 1.1),
    ('claude-sonnet-5', '2026-01-01', 'LiteLLM 1.109.1',            2,    10,   2.5,    4,    0.2,   null, null, null, null, null, null,    null, 1.1),
    ('claude-sonnet-4-6', '2026-02-17', 'platform.claude.com',      3,    15,   3.75,   6,    0.3,   200000, 6, 22.5, 7.5, 12, 0.6,         null, 1.1),
    ('claude-sonnet-4-6', '2026-03-13', 'LiteLLM 1.109.1',          3,    15,   3.75,   6,    0.3,   null, null, null, null, null, null,    null, 1.1),
    ('claude-sonnet-4-5', '2025-09-29', 'LiteLLM 1.80.0',           3,    15,   3.75,   6,    0.3,   200000, 6, 22.5, 7.5, 12, 0.6,         null, null),
    ('claude-sonnet-4', '2025-05-14', 'LiteLLM 1.80.0',             3,    15,   3.75,   6,    0.3,   200000, 6, 22.5, 7.5, 12, 0.6,         null, null),
    ('claude-3-7-sonnet', '2025-02-19', 'LiteLLM 1.80.0',           3,    15,   3.75,   6,    0.3,   null, null, null, null, null, null,    null, null),
    ('claude-3-5-sonnet', '2024-06-20', 'LiteLLM 1.72.0',           3,    15,   3.75,   6,    0.3,   null, null, null, null, null, null,    null, null),
    ('claude-3-sonnet', '2024-02-29', 'LiteLLM 1.72.0',             3,    15,   null,   null, null,  null, null, null, null, null, null,    null, null),

    ('claude-haiku-5-5', '2026-10-07', 'LiteLLM 1.109.1',           0.1,  0.5,  0.125,  0.2,  0.01,  100000, 0.5, 2.5, 0.625, 1, 0.05,     null, 1.1),
    ('claude-haiku-4-5', '2025-10-01', 'LiteLLM 1.109.1',           1,    5,    1.25,   2,    0.1,   null, null, null, null, null, null,    null, null),
    ('claude-3-5-haiku', '2024-10-22', 'LiteLLM 1.80.0',            0.8,  4,    1,      1.6,  0.08,  null, null, null, null, null, null,    null, null),
    ('claude-3-haiku', '2024-03-07', 'LiteLLM 1.80.0',              0.25, 1.25, 0.3,    0.5,  0.03,  null, null, null, null, null, null,    null, null),

    ('claude-2-1', '2023-11-21', 'LiteLLM 1.72.0',                  8,    24,   null,   null, null,  null, null, null, null, null, null,    null, null),
    ('claude-2', '2023-07-11', 'LiteLLM 1.72.0',                    8,    24,   null,   null, null,  null, null, null, null, null, null,    null, null);

-- Bedrock and Vertex AI: what is bound to a region costs a tenth more from the 4.5 models on, and a fifth more in AWS
-- GovCloud. Global endpoints have the prices above. Names are those of model_aliases.regional_model.
insert into builtin_prices (
    model, valid_from, source,
    input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd,
    long_context_tokens, long_input_usd, long_output_usd, long_cache_write_5m_usd, long_cache_write_1h_usd,
    long_cache_read_usd
)
with regions (prefix, multiplier, source) as (
    values
        ('us.anthropic.', 1.1, 'LiteLLM 1.109.1'),
        ('eu.anthropic.', 1.1, 'LiteLLM 1.109.1'),
        ('jp.anthropic.', 1.1, 'LiteLLM 1.109.1'),
        ('au.anthropic.', 1.1, 'LiteLLM 1.109.1'),
        ('apac.anthropic.', 1.1, 'LiteLLM 1.109.1'),
        ('us-gov.anthropic.', 1.2, 'LiteLLM 1.109.1'),
        ('vertex.regional.', 1.1, 'platform.claude.com/docs/en/about-claude/pricing')
)

select
    regions.prefix || builtin_prices.model,
    builtin_prices.valid_from,
    regions.source,
    round(builtin_prices.input_usd * regions.multiplier, 6),
    round(builtin_prices.output_usd * regions.multiplier, 6),
    round(builtin_prices.cache_write_5m_usd * regions.multiplier, 6),
    round(builtin_prices.cache_write_1h_usd * regions.multiplier, 6),
    round(builtin_prices.cache_read_usd * regions.multiplier, 6),
    builtin_prices.long_context_tokens,
    round(builtin_prices.long_input_usd * regions.multiplier, 6),
    round(builtin_prices.long_output_usd * regions.multiplier, 6),
    round(builtin_prices.long_cache_write_5m_usd * regions.multiplier, 6),
    round(builtin_prices.long_cache_write_1h_usd * regions.multiplier, 6),
    round(builtin_prices.long_cache_read_usd * regions.multiplier, 6)
from builtin_prices
cross join regions
where builtin_prices.valid_from >= '2025-09-29' -- Sonnet 4.5
    and builtin_prices.model <> 'claude-mythos-preview';

-- Bedrock asks 2.75 times the price of others for this preview.
insert into builtin_prices (
    model, valid_from, source, input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd
)
select
    regions.prefix || 'claude-mythos-preview', '2026-01-01', 'LiteLLM 1.109.1', 27.5, 137.5, 34.375, 55, 2.75
from (
    select 'anthropic.' as prefix
    union all
    select 'us.anthropic.'
    union all
    select 'apac.anthropic.'
    union all
    select 'au.anthropic.'
) as regions;

-- The day on which prices were last compared with LiteLLM's file.
update builtin_prices
set checked_on = '2026-11-19';
