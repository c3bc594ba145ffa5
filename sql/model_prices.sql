-- The prices that ship with cc-etl: first-party list prices in USD per million tokens, from the day on that stands with
-- them. Rows are added, never changed: a new price is a new row with a later day. The day of a model's only row does not
-- matter, as answers before the first row take that row; it is the date in the model's name where it has one.
--
-- Source: the price file of LiteLLM in the release named, whose prices of retired models are only in old releases.
-- Cache writes are 1.25 (5 minutes) and 2 times (1 hour) the input price for every model; cache reads are not always a
-- tenth. Where LiteLLM's 1-hour price of a Claude 3 model contradicts that, the rule is used.
insert into builtin_prices (
    model, valid_from, source,
    input_usd, output_usd, cache_write_5m_usd, cache_write_1h_usd, cache_read_usd,
    long_context_tokens, long_input_usd, long_output_usd, long_cache_write_5m_usd, long_cache_write_1h_usd,
    long_cache_read_usd, fast_multiplier, us_multiplier
)
values
    -- model, from, source                                          in    out   w5m     w1h   read   long: from, in, out, w5m, w1h, read     fast  us
    ('claude-fable-5-1', '2026-01-01', 'LiteLLM 1.108.4',           10,   50,   12.5,   20,   0.25,  null, null, null, null, null, null,    null, 1.1),
    ('claude-fable-5', '2026-01-01', 'LiteLLM 1.108.4',             10,   50,   12.5,   20,   1,     null, null, null, null, null, null,    null, 1.1),
    ('claude-mythos-5-1', '2026-01-01', 'LiteLLM 1.108.4',          10,   50,   12.5,   20,   0.25,  null, null, null, null, null, null,    null, 1.1),
    ('claude-mythos-5', '2026-01-01', 'LiteLLM 1.108.4',            10,   50,   12.5,   20,   1,     null, null, null, null, null, null,    null, 1.1),
    ('claude-mythos-preview', '2026-01-01', 'LiteLLM 1.108.4',      10,   50,   12.5,   20,   1,     null, null, null, null, null, null,    null, 1.1),

    ('claude-opus-5-5', '2026-01-01', 'LiteLLM 1.108.4',            4,    20,   5,      8,    0.2,   null, null, null, null, null, null,    2,    1.1),
    ('claude-opus-5', '2026-01-01', 'LiteLLM 1.108.4',              5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    2,    1.1),
    ('claude-opus-4-8', '2026-01-01', 'LiteLLM 1.108.4',            5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    2,    1.1),
    ('claude-opus-4-7', '2026-04-16', 'LiteLLM 1.108.4',            5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    6,    1.1),
    -- Its long-context prices stood in the file of February 2026 and no longer in that of April.
    ('claude-opus-4-6', '2026-02-05', 'LiteLLM 1.81.13',            5,    25,   6.25,   10,   0.5,   200000, 10, 37.5, 12.5, 20, 1,         6,    1.1),
    ('claude-opus-4-6', '2026-04-01', 'LiteLLM 1.83.14',            5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    6,    1.1),
    ('claude-opus-4-5', '2025-11-01', 'LiteLLM 1.108.4',            5,    25,   6.25,   10,   0.5,   null, null, null, null, null, null,    null, null),
    ('claude-opus-4-1', '2025-08-05', 'LiteLLM 1.97.0',             15,   75,   18.75,  30,   1.5,   null, null, null, null, null, null,    null, null),
    ('claude-opus-4', '2025-05-14', 'LiteLLM 1.97.0',               15,   75,   18.75,  30,   1.5,   null, null, null, null, null, null,    null, null),
    ('claude-3-opus', '2024-02-29', 'LiteLLM 1.72.0',               15,   75,   18.75,  30,   1.5,   null, null, null, null, null, null,    null, null),

    ('claude-sonnet-5-5', '2026-01-01', 'LiteLLM 1.108.4',          2,    10,   2.5,    4,    0.1,   null, null, null, null, null, null,    null, 1.1),
    ('claude-sonnet-5', '2026-01-01', 'LiteLLM 1.108.4',            2,    10,   2.5,    4,    0.2,   null, null, null, null, null, null,    null, 1.1),
    ('claude-sonnet-4-6', '2026-01-01', 'LiteLLM 1.108.4',          3,    15,   3.75,   6,    0.3,   null, null, null, null, null, null,    null, 1.1),
    ('claude-sonnet-4-5', '2025-09-29', 'LiteLLM 1.80.0',           3,    15,   3.75,   6,    0.3,   200000, 6, 22.5, 7.5, 12, 0.6,         null, null),
    ('claude-sonnet-4', '2025-05-14', 'LiteLLM 1.80.0',             3,    15,   3.75,   6,    0.3,   200000, 6, 22.5, 7.5, 12, 0.6,         null, null),
    ('claude-3-7-sonnet', '2025-02-19', 'LiteLLM 1.80.0',           3,    15,   3.75,   6,    0.3,   null, null, null, null, null, null,    null, null),
    ('claude-3-5-sonnet', '2024-06-20', 'LiteLLM 1.72.0',           3,    15,   3.75,   6,    0.3,   null, null, null, null, null, null,    null, null),
    ('claude-3-sonnet', '2024-02-29', 'LiteLLM 1.72.0',             3,    15,   null,   null, null,  null, null, null, null, null, null,    null, null),

    ('claude-haiku-5-5', '2026-01-01', 'LiteLLM 1.108.4',           0.1,  0.5,  0.125,  0.2,  0.01,  100000, 0.5, 2.5, 0.625, 1, 0.05,     null, 1.1),
    ('claude-haiku-4-5', '2025-10-01', 'LiteLLM 1.108.4',           1,    5,    1.25,   2,    0.1,   null, null, null, null, null, null,    null, null),
    ('claude-3-5-haiku', '2024-10-22', 'LiteLLM 1.80.0',            0.8,  4,    1,      1.6,  0.08,  null, null, null, null, null, null,    null, null),
    ('claude-3-haiku', '2024-03-07', 'LiteLLM 1.80.0',              0.25, 1.25, 0.3,    0.5,  0.03,  null, null, null, null, null, null,    null, null),

    ('claude-2-1', '2023-11-21', 'LiteLLM 1.72.0',                  8,    24,   null,   null, null,  null, null, null, null, null, null,    null, null),
    ('claude-2', '2023-07-11', 'LiteLLM 1.72.0',                    8,    24,   null,   null, null,  null, null, null, null, null, null,    null, null);
