//! Usage of a response -> a usage line.

use super::extra::Extra;
use crate::record::{Message, Usage as RecordedUsage, parse_object};
use crate::rows::{Text, Usage, UsageLine};

/// The model name of messages that Claude Code made up itself: no API was called.
pub const SYNTHETIC: &str = "<synthetic>";

/// The usage that a message carries; `uuid` is its name when the API gave it none.
pub fn usage<'a>(message: &Message<'a>, uuid: &Text<'a>) -> Option<Usage<'a>> {
    if message.model.as_deref() == Some(SYNTHETIC) {
        return None;
    }
    let recorded: RecordedUsage = parse_object(message.usage?.get()).ok()?;
    let id = message.id.as_ref().filter(|id| !id.is_empty());
    Some(Usage {
        api_message_id: id.unwrap_or(uuid).clone(),
        agent: None,
        line: UsageLine {
            model: message.model.clone(),
            stop_reason: message.stop_reason.clone(),
            ..numbers(recorded)
        },
    })
}

fn numbers(usage: RecordedUsage<'_>) -> UsageLine<'_> {
    let mut extra = Extra::default();
    extra.push_rest(&usage.rest);
    let input_tokens = non_negative("input_tokens", usage.input_tokens, &mut extra);
    let output_tokens = non_negative("output_tokens", usage.output_tokens, &mut extra);
    let flat = non_negative(
        "cache_creation_input_tokens",
        usage.cache_write_tokens,
        &mut extra,
    );
    let cache_read_tokens = non_negative(
        "cache_read_input_tokens",
        usage.cache_read_tokens,
        &mut extra,
    );
    let mut five_minutes = None;
    let mut one_hour = None;
    if let Some(split) = usage.cache_creation {
        let mut nested = Extra::default();
        nested.push_rest(&split.rest);
        five_minutes = non_negative("ephemeral_5m_input_tokens", split.five_minutes, &mut nested);
        one_hour = non_negative("ephemeral_1h_input_tokens", split.one_hour, &mut nested);
        extra.push_object("cache_creation", nested);
    }
    let split = match (five_minutes, one_hour) {
        (None, None) => None,
        (five, one) => Some(five.unwrap_or(0) + one.unwrap_or(0)),
    };
    let cache_write_tokens = flat.max(split);
    if flat != cache_write_tokens
        && let Some(flat) = flat
    {
        extra.push("cache_creation_input_tokens", &flat.to_string());
    }
    let mut web_search_count = None;
    if let Some(server) = usage.server_tool_use {
        let mut nested = Extra::default();
        nested.push_rest(&server.rest);
        web_search_count = non_negative(
            "web_search_requests",
            server.web_search_requests,
            &mut nested,
        );
        extra.push_object("server_tool_use", nested);
    }
    let mut thinking_tokens = None;
    if let Some(details) = usage.output_details {
        let mut nested = Extra::default();
        nested.push_rest(&details.rest);
        thinking_tokens = non_negative("thinking_tokens", details.thinking_tokens, &mut nested);
        extra.push_object("output_tokens_details", nested);
    }
    UsageLine {
        service_tier: usage.service_tier,
        speed: usage.speed,
        inference_geo: usage.inference_geo,
        input_tokens,
        output_tokens,
        cache_write_tokens,
        cache_write_5m_tokens: five_minutes,
        cache_write_1h_tokens: one_hour,
        cache_read_tokens,
        thinking_tokens,
        web_search_count,
        extra_json: extra.finish().map(Into::into),
        ..UsageLine::default()
    }
}

/// A count; a negative one means nothing and stays in the JSON.
fn non_negative(key: &str, number: Option<i64>, extra: &mut Extra) -> Option<i64> {
    match number {
        Some(number) if number < 0 => {
            extra.push(key, &number.to_string());
            None
        }
        other => other,
    }
}
