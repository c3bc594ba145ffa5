//! `stats-cache.json` -> usage statistics.

use super::Entries;
use super::extra::Extra;
use crate::json::{self, Raw, parse_object};
use crate::record::{self, object};
use crate::rows::{Document, UsageStatistic};
use std::collections::HashSet;

object! {
    /// `stats-cache.json`
    pub struct Statistics {
        "dailyActivity" => daily_activity: raw,
        "dailyModelTokens" => daily_model_tokens: raw,
        "modelUsage" => model_usage: raw,
        "totalSessions" => total_sessions: count,
        "totalMessages" => total_messages: count,
    }
}

object! {
    /// An element of `dailyActivity` or `dailyModelTokens`.
    pub struct Day {
        "date" => date: text,
        "messageCount" => message_count: count,
        "sessionCount" => session_count: count,
        "toolCallCount" => tool_call_count: count,
        "tokensByModel" => tokens_by_model: raw,
    }
}

object! {
    /// A value of `modelUsage`.
    pub struct ModelUsage {
        "inputTokens" => input_tokens: count,
        "outputTokens" => output_tokens: count,
        "cacheReadInputTokens" => cache_read_tokens: count,
        "cacheCreationInputTokens" => cache_write_tokens: count,
        "webSearchRequests" => web_search_count: count,
        "costUSD" => cost_usd: cost,
    }
}

pub fn statistics(json: &str) -> Option<Vec<Document>> {
    let statistics: Statistics = parse_object(json).ok()?;
    let mut rows = Vec::new();
    for raw in list(statistics.daily_activity) {
        rows.push(day_row(parse_object(raw.get()).unwrap_or_default()));
    }
    for raw in list(statistics.daily_model_tokens) {
        let day: Day = parse_object(raw.get()).unwrap_or_default();
        for (model, tokens) in object(day.tokens_by_model).rest {
            rows.push(day_and_model_row(day.date.as_deref(), &model, tokens.get()));
        }
    }
    for (model, usage) in object(statistics.model_usage).rest {
        rows.push(model_row(
            &model,
            parse_object(usage.get()).unwrap_or_default(),
        ));
    }
    rows.push(UsageStatistic {
        scope: "all",
        session_count: statistics.total_sessions,
        message_count: statistics.total_messages,
        extra_json: Extra::from(&statistics.rest).finish(),
        ..UsageStatistic::default()
    });
    // Deduplicate: if a key occurs twice, the later value counts.
    let mut seen = HashSet::new();
    rows.reverse();
    rows.retain(|row| seen.insert((row.scope, row.activity_date.clone(), row.model.clone())));
    rows.reverse();
    Some(rows.into_iter().map(Document::UsageStatistic).collect())
}

fn list(raw: Option<Raw<'_>>) -> Vec<Raw<'_>> {
    raw.and_then(|raw| json::list(raw.get()).ok())
        .unwrap_or_default()
}

fn object(raw: Option<Raw<'_>>) -> Entries<'_> {
    raw.and_then(|raw| parse_object(raw.get()).ok())
        .unwrap_or_default()
}

fn day_row(day: Day<'_>) -> UsageStatistic {
    UsageStatistic {
        scope: "day",
        extra_json: Extra::from(&day.rest).finish(),
        activity_date: day.date.map(Into::into).unwrap_or_default(),
        message_count: day.message_count,
        session_count: day.session_count,
        tool_call_count: day.tool_call_count,
        ..UsageStatistic::default()
    }
}

fn day_and_model_row(date: Option<&str>, model: &str, tokens: &str) -> UsageStatistic {
    let total_tokens = record::count(tokens);
    let mut extra = Extra::default();
    if total_tokens.is_none() {
        extra.push("tokens", tokens);
    }
    UsageStatistic {
        scope: "day_and_model",
        activity_date: date.unwrap_or_default().to_string(),
        model: model.to_string(),
        total_tokens,
        extra_json: extra.finish(),
        ..UsageStatistic::default()
    }
}

fn model_row(model: &str, usage: ModelUsage<'_>) -> UsageStatistic {
    UsageStatistic {
        scope: "model",
        model: model.to_string(),
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_tokens: usage.cache_read_tokens,
        cache_write_tokens: usage.cache_write_tokens,
        web_search_count: usage.web_search_count,
        cost_usd: usage.cost_usd,
        extra_json: Extra::from(&usage.rest).finish(),
        ..UsageStatistic::default()
    }
}
