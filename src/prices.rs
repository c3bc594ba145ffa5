//! Parses model prices from our CSV and JSON, and from LiteLLM's price file.

use crate::database::priced_model;
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
) -> Result<Vec<ModelPrice>, String> {
    if let Some(day) = valid_from.filter(|day| !is_day(day)) {
        return Err(format!("{day} is not a date such as 2026-01-31"));
    }
    let trimmed = content.trim_start_matches('\u{feff}').trim_start();
    let prices = match trimmed.as_bytes().first() {
        Some(b'[') => from_json(trimmed, valid_from.unwrap_or(ALWAYS)),
        Some(b'{') => from_litellm(trimmed, valid_from.unwrap_or(today)),
        _ => from_csv(trimmed, valid_from.unwrap_or(ALWAYS)),
    }?;
    match prices.is_empty() {
        true => Err("it contains no price".to_string()),
        false => Ok(prices),
    }
}

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
    input_usd: f64,
    output_usd: f64,
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
}

impl Entry {
    fn into_price(self, valid_from: &str) -> Result<ModelPrice, String> {
        let day = self
            .valid_from
            .filter(|day| !day.is_empty())
            .unwrap_or_else(|| valid_from.to_string());
        if !is_day(&day) {
            return Err(format!(
                "{}: valid_from is {day}, not a date such as 2026-01-31",
                self.model
            ));
        }
        let price = ModelPrice {
            model: self.model.trim().to_string(),
            valid_from: day,
            origin: "user".to_string(),
            source: self
                .source
                .filter(|source| !source.is_empty())
                .unwrap_or_else(|| "user".to_string()),
            input_usd: self.input_usd,
            output_usd: self.output_usd,
            cache_write_5m_usd: self.cache_write_5m_usd,
            cache_write_1h_usd: self.cache_write_1h_usd,
            cache_read_usd: self.cache_read_usd,
            long_context_tokens: self.long_context_tokens,
            long_input_usd: self.long_input_usd,
            long_output_usd: self.long_output_usd,
            long_cache_write_5m_usd: self.long_cache_write_5m_usd,
            long_cache_write_1h_usd: self.long_cache_write_1h_usd,
            long_cache_read_usd: self.long_cache_read_usd,
            fast_multiplier: self.fast_multiplier,
            us_multiplier: self.us_multiplier,
            batch_multiplier: self.batch_multiplier.unwrap_or(0.5),
            web_search_usd: self.web_search_usd.unwrap_or(0.01),
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

fn from_csv(content: &str, valid_from: &str) -> Result<Vec<ModelPrice>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(content.as_bytes());
    let rows = reader.deserialize::<Entry>();
    rows.map(|row| {
        row.map_err(|error| error.to_string())?
            .into_price(valid_from)
    })
    .collect()
}

fn from_json(content: &str, valid_from: &str) -> Result<Vec<ModelPrice>, String> {
    let entries: Vec<Entry> = serde_json::from_str(content).map_err(|error| error.to_string())?;
    entries
        .into_iter()
        .map(|entry| entry.into_price(valid_from))
        .collect()
}

/// LiteLLM's file maps model names to USD per token. Keys of long-context prices contain the threshold.
fn from_litellm(content: &str, valid_from: &str) -> Result<Vec<ModelPrice>, String> {
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
            batch_multiplier: 0.5,
            web_search_usd: 0.01,
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
        )
        .unwrap();
        assert_eq!(
            (prices[0].model.as_str(), prices[0].valid_from.as_str()),
            ("glm-5.2-air", ALWAYS)
        );
        assert_eq!((prices[0].input_usd, prices[0].cache_read_usd), (0.5, None));
        let dated = parse(
            "model,valid_from,input_usd,output_usd\nm,2026-02-01,1,2\n",
            None,
            "2026-11-16",
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
            let error = parse(content, None, "2026-11-16").unwrap_err();
            assert!(error.contains(part), "{content}: {error}");
        }
    }

    #[test]
    fn a_json_list_has_the_same_columns() {
        let prices = parse(
            r#"[{"model":"m","input_usd":1,"output_usd":2,"cache_read_usd":0.1}]"#,
            Some("2026-03-01"),
            "x",
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
        let prices = parse(content, None, "2026-11-16").unwrap();
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
}
