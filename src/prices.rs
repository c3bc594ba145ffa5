//! Parses model prices from our CSV and JSON, and from LiteLLM's price file.

use crate::database::{priced_model, regional_model};
use crate::rows::ModelPrice;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `valid_from` of a price that is valid for all time.
const ALWAYS: &str = "1970-01-01";

/// Parses the content of a price file. The error describes what is wrong with it.
pub fn parse(
    content: &str,
    valid_from: Option<&str>,
    today: &str,
    builtin: &[ModelPrice],
) -> Result<Vec<ModelPrice>, String> {
    if let Some(day) = valid_from.filter(|day| !is_day(day)) {
        return Err(format!("{day} is not a date such as 2026-01-31"));
    }
    let trimmed = content.trim_start_matches('\u{feff}').trim_start();
    let prices = match trimmed.as_bytes().first() {
        Some(b'[') => from_json(trimmed, valid_from.unwrap_or(ALWAYS), today, builtin),
        Some(b'{') => from_litellm(trimmed, valid_from.unwrap_or(today), today),
        _ => from_csv(trimmed, valid_from.unwrap_or(ALWAYS), today, builtin),
    }?;
    match prices.is_empty() {
        true => Err("it contains no price".to_string()),
        false => Ok(prices),
    }
}

/// What cache writes cost for five minutes and for an hour, and cache reads, as multiples of the input price. Most models have these.
const CACHE_MULTIPLIERS: (f64, f64, f64) = (1.25, 2.0, 0.1);

/// A row of our CSV and JSON. An unknown column is an error: it may be a misspelt price.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    model: String,
    valid_from: Option<String>,
    #[allow(dead_code)]
    // accepted, since `prices list` prints it; imported prices are always the user's
    origin: Option<String>,
    source: Option<String>,
    input_usd: Option<f64>,
    output_usd: Option<f64>,
    cache_write_5m_usd: Option<f64>,
    cache_write_1h_usd: Option<f64>,
    cache_read_usd: Option<f64>,
    long_context_tokens: Option<i64>,
    long_input_usd: Option<f64>,
    long_output_usd: Option<f64>,
    long_cache_write_5m_usd: Option<f64>,
    long_cache_write_1h_usd: Option<f64>,
    long_cache_read_usd: Option<f64>,
    fast_multiplier: Option<f64>,
    us_multiplier: Option<f64>,
    batch_multiplier: Option<f64>,
    web_search_usd: Option<f64>,
    checked_on: Option<String>,
}

impl Entry {
    /// The price, whose missing rates are those of the built-in row, in proportion to the input price.
    fn into_price(
        self,
        valid_from: &str,
        today: &str,
        builtin: &[ModelPrice],
    ) -> Result<ModelPrice, String> {
        let model = self.model.trim().to_string();
        let given = |text: Option<String>, default: &str| {
            let text = text.filter(|text| !text.is_empty());
            text.unwrap_or_else(|| default.to_string())
        };
        let valid_from = given(self.valid_from, valid_from);
        let checked_on = given(self.checked_on, today);
        for (column, day) in [("valid_from", &valid_from), ("checked_on", &checked_on)] {
            if !is_day(day) {
                return Err(format!(
                    "{model}: {column} is {day}, not a date such as 2026-01-31"
                ));
            }
        }
        let known = builtin_price(builtin, &model, &valid_from);
        let missing = |column: &str| {
            format!(
                "{model}: {column} is missing, and there is no built-in price to derive it from; add it to the file"
            )
        };
        let input_usd = self
            .input_usd
            .or(known.map(|known| known.input_usd))
            .ok_or_else(|| missing("input_usd"))?;
        let ratio = match known {
            Some(known) if known.input_usd > 0.0 => input_usd / known.input_usd,
            _ => 1.0,
        };
        let scaled = |rate: f64| round(rate * ratio);
        let output_usd = self
            .output_usd
            .or(known.map(|known| scaled(known.output_usd)))
            .ok_or_else(|| missing("output_usd"))?;
        let rate = |given: Option<f64>, column: fn(&ModelPrice) -> Option<f64>, multiplier: f64| {
            given.or_else(|| match known {
                Some(known) => column(known).map(scaled),
                None => Some(round(input_usd * multiplier)),
            })
        };
        let (write_5m, write_1h, read) = CACHE_MULTIPLIERS;
        let cache_write_5m_usd = rate(
            self.cache_write_5m_usd,
            |row| row.cache_write_5m_usd,
            write_5m,
        );
        let cache_write_1h_usd = rate(
            self.cache_write_1h_usd,
            |row| row.cache_write_1h_usd,
            write_1h,
        );
        let cache_read_usd = rate(self.cache_read_usd, |row| row.cache_read_usd, read);
        // A model without a second band has no rates for it. Where the file gives a band, its missing rates are those below it.
        let known_band = known.filter(|known| known.long_context_tokens.is_some());
        let long_context_tokens = self
            .long_context_tokens
            .or(known_band.and_then(|known| known.long_context_tokens));
        let long =
            |given: Option<f64>, column: fn(&ModelPrice) -> Option<f64>, below: Option<f64>| {
                long_context_tokens?;
                given.or_else(|| match known_band {
                    Some(known) => column(known).map(scaled),
                    None => below,
                })
            };
        let price = ModelPrice {
            source: given(self.source, "user"),
            long_input_usd: long(
                self.long_input_usd,
                |row| row.long_input_usd,
                Some(input_usd),
            ),
            long_output_usd: long(
                self.long_output_usd,
                |row| row.long_output_usd,
                Some(output_usd),
            ),
            long_cache_write_5m_usd: long(
                self.long_cache_write_5m_usd,
                |row| row.long_cache_write_5m_usd,
                cache_write_5m_usd,
            ),
            long_cache_write_1h_usd: long(
                self.long_cache_write_1h_usd,
                |row| row.long_cache_write_1h_usd,
                cache_write_1h_usd,
            ),
            long_cache_read_usd: long(
                self.long_cache_read_usd,
                |row| row.long_cache_read_usd,
                cache_read_usd,
            ),
            fast_multiplier: self
                .fast_multiplier
                .or_else(|| known.and_then(|known| known.fast_multiplier)),
            us_multiplier: self
                .us_multiplier
                .or_else(|| known.and_then(|known| known.us_multiplier)),
            batch_multiplier: self
                .batch_multiplier
                .unwrap_or_else(|| known.map_or(0.5, |known| known.batch_multiplier)),
            web_search_usd: self
                .web_search_usd
                .unwrap_or_else(|| known.map_or(0.01, |known| known.web_search_usd)),
            model,
            valid_from,
            origin: "user".to_string(),
            input_usd,
            output_usd,
            cache_write_5m_usd,
            cache_write_1h_usd,
            cache_read_usd,
            long_context_tokens,
            checked_on,
        };
        match is_sane(&price) {
            true => Ok(price),
            false => Err(format!(
                "{}: a price is negative or not a number",
                price.model
            )),
        }
    }
}

/// To a millionth of a dollar per million tokens, which no published price goes below.
fn round(usd: f64) -> f64 {
    (usd * 1e6).round() / 1e6
}

/// The built-in price of a model on a day. A price for all time is derived from the newest one.
fn builtin_price<'p>(
    builtin: &'p [ModelPrice],
    model: &str,
    valid_from: &str,
) -> Option<&'p ModelPrice> {
    let names = [
        Some(model.to_string()),
        regional_model(model),
        Some(priced_model(model)),
    ];
    let of = |name: &String| {
        let mut rows: Vec<&ModelPrice> = builtin.iter().filter(|row| row.model == *name).collect();
        rows.sort_by(|a, b| a.valid_from.cmp(&b.valid_from));
        Some(rows).filter(|rows| !rows.is_empty())
    };
    let rows = names.iter().flatten().find_map(of)?;
    let on_that_day = rows.iter().rfind(|row| &*row.valid_from <= valid_from);
    match valid_from {
        ALWAYS => rows.last().copied(),
        _ => on_that_day.or(rows.first()).copied(),
    }
}

fn is_sane(price: &ModelPrice) -> bool {
    let optional = [
        price.cache_write_5m_usd,
        price.cache_write_1h_usd,
        price.cache_read_usd,
        price.long_input_usd,
        price.long_output_usd,
        price.long_cache_write_5m_usd,
        price.long_cache_write_1h_usd,
        price.long_cache_read_usd,
        price.fast_multiplier,
        price.us_multiplier,
    ];
    let needed = [
        price.input_usd,
        price.output_usd,
        price.batch_multiplier,
        price.web_search_usd,
    ];
    let mut all = optional.into_iter().flatten().chain(needed);
    all.all(|number| number.is_finite() && number >= 0.0) && !price.model.is_empty()
}

fn is_day(text: &str) -> bool {
    let midnight = format!("{text}T00:00:00.000Z");
    crate::timestamp::normalize(midnight.into()).is_some() && text.len() == 10
}

fn from_csv(
    content: &str,
    valid_from: &str,
    today: &str,
    builtin: &[ModelPrice],
) -> Result<Vec<ModelPrice>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(content.as_bytes());
    let rows = reader.deserialize::<Entry>();
    rows.map(|row| {
        row.map_err(|error| error.to_string())?
            .into_price(valid_from, today, builtin)
    })
    .collect()
}

fn from_json(
    content: &str,
    valid_from: &str,
    today: &str,
    builtin: &[ModelPrice],
) -> Result<Vec<ModelPrice>, String> {
    let entries: Vec<Entry> = serde_json::from_str(content).map_err(|error| error.to_string())?;
    entries
        .into_iter()
        .map(|entry| entry.into_price(valid_from, today, builtin))
        .collect()
}

/// LiteLLM's file maps model names to USD per token. Keys of long-context prices contain the threshold.
fn from_litellm(content: &str, valid_from: &str, today: &str) -> Result<Vec<ModelPrice>, String> {
    let models: Map<String, Value> =
        serde_json::from_str(content).map_err(|error| error.to_string())?;
    let mut prices: Vec<ModelPrice> = Vec::new();
    for (name, entry) in &models {
        let per_million = |key: &str| {
            entry
                .get(key)
                .and_then(Value::as_f64)
                .map(|price| (price * 1e12).round() / 1e6)
        };
        let (Some(input_usd), Some(output_usd)) = (
            per_million("input_cost_per_token"),
            per_million("output_cost_per_token"),
        ) else {
            // Embeddings, images and the sample at the start of the file.
            continue;
        };
        // Other keys begin alike: `..._above_100k_tokens_batches`.
        let threshold = |key: &String| {
            let rest = key.strip_prefix("input_cost_per_token_above_")?;
            rest.strip_suffix("k_tokens")?.parse::<i64>().ok()
        };
        let keys = entry.as_object().into_iter().flat_map(|entry| entry.keys());
        let threshold = keys.filter_map(threshold).min();
        let long = |key: &str| {
            threshold.and_then(|thousands| per_million(&format!("{key}_above_{thousands}k_tokens")))
        };
        // Anthropic's own entries give the prices of bare model names; other providers' names are kept.
        let is_first_party =
            entry.get("litellm_provider").and_then(Value::as_str) == Some("anthropic");
        let specific = |key: &str| {
            let specific = entry.get("provider_specific_entry")?;
            specific.get(key).and_then(Value::as_f64)
        };
        let price = ModelPrice {
            model: match is_first_party {
                true => priced_model(name),
                false => name.clone(),
            },
            valid_from: valid_from.to_string(),
            origin: "user".to_string(),
            source: "LiteLLM".to_string(),
            input_usd,
            output_usd,
            cache_write_5m_usd: per_million("cache_creation_input_token_cost"),
            cache_write_1h_usd: per_million("cache_creation_input_token_cost_above_1hr"),
            cache_read_usd: per_million("cache_read_input_token_cost"),
            long_context_tokens: threshold.map(|thousands| thousands * 1000),
            long_input_usd: long("input_cost_per_token"),
            long_output_usd: long("output_cost_per_token"),
            long_cache_write_5m_usd: long("cache_creation_input_token_cost"),
            long_cache_write_1h_usd: threshold.and_then(|thousands| {
                per_million(&format!(
                    "cache_creation_input_token_cost_above_1hr_above_{thousands}k_tokens"
                ))
            }),
            long_cache_read_usd: long("cache_read_input_token_cost"),
            fast_multiplier: specific("fast"),
            us_multiplier: specific("us"),
            batch_multiplier: match per_million("input_cost_per_token_batches") {
                Some(batched) if input_usd > 0.0 => batched / input_usd,
                _ => 0.5,
            },
            web_search_usd: 0.01,
            checked_on: today.to_string(),
        };
        // Several dated names of one model have the same bare name and price.
        if is_sane(&price) && !prices.iter().any(|other| other.model == price.model) {
            prices.push(price);
        }
    }
    Ok(prices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_csv_file_needs_a_model_and_two_prices() {
        let prices = parse(
            "model,input_usd,output_usd\nglm-5.2-air,0.5,1.5\n",
            None,
            "2026-11-16",
            &[],
        )
        .unwrap();
        assert_eq!(
            (prices[0].model.as_str(), prices[0].valid_from.as_str()),
            ("glm-5.2-air", ALWAYS)
        );
        // What is missing has the documented multiples of the input price.
        assert_eq!(
            (
                prices[0].input_usd,
                prices[0].cache_read_usd,
                prices[0].cache_write_1h_usd
            ),
            (0.5, Some(0.05), Some(1.0))
        );
        let dated = parse(
            "model,valid_from,input_usd,output_usd\nm,2026-02-01,1,2\n",
            None,
            "2026-11-16",
            &[],
        )
        .unwrap();
        assert_eq!(dated[0].valid_from, "2026-02-01");
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (content, part) in [
            ("model,input_usd\nm,1\n", "output_usd"),
            ("model,input_usd,output_usd,colour\nm,1,2,red\n", "colour"),
            ("model,input_usd,output_usd\nm,cheap,2\n", "line: 2"),
            (
                "model,valid_from,input_usd,output_usd\nm,yesterday,1,2\n",
                "yesterday",
            ),
            ("model,input_usd,output_usd\nm,-1,2\n", "negative"),
            ("{}", "no price"),
        ] {
            let error = parse(content, None, "2026-11-16", &[]).unwrap_err();
            assert!(error.contains(part), "{content}: {error}");
        }
    }

    #[test]
    fn a_json_list_has_the_same_columns() {
        let prices = parse(
            r#"[{"model":"m","input_usd":1,"output_usd":2,"cache_read_usd":0.1}]"#,
            Some("2026-03-01"),
            "2026-11-16",
            &[],
        )
        .unwrap();
        assert_eq!(
            (prices[0].cache_read_usd, prices[0].valid_from.as_str()),
            (Some(0.1), "2026-03-01")
        );
    }

    #[test]
    fn litellms_file_is_read_unchanged() {
        let content = r#"{
            "sample_spec": {"input_cost_per_token": "a number"},
            "claude-sonnet-4-5-20250929": {"litellm_provider": "anthropic", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
                "cache_creation_input_token_cost": 3.75e-06, "cache_creation_input_token_cost_above_1hr": 6e-06, "cache_read_input_token_cost": 3e-07,
                "input_cost_per_token_above_100k_tokens_batches": 1e-06,
                "input_cost_per_token_above_200k_tokens": 6e-06, "output_cost_per_token_above_200k_tokens": 2.25e-05,
                "cache_read_input_token_cost_above_200k_tokens": 6e-07, "provider_specific_entry": {"us": 1.1, "fast": 6.0}},
            "gpt-5": {"litellm_provider": "openai", "input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05}
        }"#;
        let prices = parse(content, None, "2026-11-16", &[]).unwrap();
        assert_eq!(prices.len(), 2);
        let sonnet = prices
            .iter()
            .find(|price| price.model == "claude-sonnet-4-5")
            .unwrap();
        assert_eq!(
            (sonnet.input_usd, sonnet.cache_write_1h_usd),
            (3.0, Some(6.0))
        );
        assert_eq!(
            (sonnet.long_context_tokens, sonnet.long_output_usd),
            (Some(200_000), Some(22.5))
        );
        assert_eq!(
            (sonnet.fast_multiplier, sonnet.us_multiplier),
            (Some(6.0), Some(1.1))
        );
        assert_eq!(sonnet.valid_from, "2026-11-16");
    }

    #[test]
    fn missing_rates_are_those_of_the_built_in_price_in_proportion() {
        let row = |valid_from: &str, cache_read_usd, long_input_usd| ModelPrice {
            model: "claude-haiku-5-5".to_string(),
            valid_from: valid_from.to_string(),
            input_usd: 2.0,
            output_usd: 10.0,
            cache_read_usd,
            long_context_tokens: Some(100_000),
            long_input_usd,
            fast_multiplier: Some(2.0),
            batch_multiplier: 0.4,
            ..ModelPrice::default()
        };
        let builtin = [
            row("2026-01-01", Some(0.2), Some(3.0)),
            row("2026-06-01", None, Some(4.0)),
        ];
        let price = |row: &str| {
            let content = format!("model,valid_from,input_usd,output_usd,cache_read_usd\n{row}\n");
            parse(&content, None, "2026-11-16", &builtin).map(|mut prices| prices.remove(0))
        };
        // Half the price, on a day on which the first row was valid.
        let halved = price("us.anthropic.claude-haiku-5-5-v1:0,2026-02-01,1,,").unwrap();
        assert_eq!((halved.output_usd, halved.cache_read_usd), (5.0, Some(0.1)));
        assert_eq!(
            (
                halved.long_context_tokens,
                halved.long_input_usd,
                halved.long_output_usd
            ),
            (Some(100_000), Some(1.5), None)
        );
        assert_eq!(
            (halved.fast_multiplier, halved.batch_multiplier),
            (Some(2.0), 0.4)
        );
        // For all time: by the newest row, whose unknown rates stay unknown.
        let always = price("claude-haiku-5-5,,,,").unwrap();
        assert_eq!(
            (
                always.input_usd,
                always.cache_read_usd,
                always.long_input_usd
            ),
            (2.0, None, Some(4.0))
        );
        assert_eq!(
            price("claude-haiku-5-5,,,,0.7").unwrap().cache_read_usd,
            Some(0.7)
        );
        assert!(
            price("unknown,,,5,")
                .unwrap_err()
                .contains("input_usd is missing")
        );
    }
}
