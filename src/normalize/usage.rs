//! The token usage of an API response -> a usage line.

use super::extra::Extra;
use crate::json::parse_object;
use crate::record::{Message, Usage as RecordedUsage};
use crate::rows::{Text, Usage, UsageLine};

/// The model of messages that Claude Code generates without calling the API.
pub const SYNTHETIC: &str = "<synthetic>";

/// The usage of a message. The response id is the name of the line if the message has no id.
pub fn usage<'a>(message: &Message<'a>, line_name: &Text<'a>) -> Option<Usage<'a>> {
    if message.model.as_deref() == Some(SYNTHETIC) {
        return None;
    }
    let recorded: RecordedUsage = parse_object(message.usage?.get()).ok()?;
    let id = message.id.as_ref().filter(|id| !id.is_empty());
    Some(Usage {
        api_message_id: id.unwrap_or(line_name).clone(),
        id_scope: Text::default(),
        agent: None,
        line: UsageLine {
            model: message.model.clone(),
            stop_reason: message.stop_reason.clone(),
            ..numbers(recorded)
        },
    })
}

/// A number of the usage that a JSON object holds, by the column of [`UsageLine`].
pub fn usage_number(json: &str, column: &str) -> Option<i64> {
    let usage = numbers(parse_object(json).ok()?);
    match column {
        "input_tokens" => usage.input_tokens,
        "output_tokens" => usage.output_tokens,
        "cache_write_tokens" => usage.cache_write_tokens,
        "cache_write_5m_tokens" => usage.cache_write_5m_tokens,
        "cache_write_1h_tokens" => usage.cache_write_1h_tokens,
        "cache_read_tokens" => usage.cache_read_tokens,
        _ => None,
    }
}

fn numbers(usage: RecordedUsage<'_>) -> UsageLine<'_> {
    let mut extra = Extra::from(&usage.rest);
    let flat = usage.cache_write_tokens;
    let mut five_minutes = None;
    let mut one_hour = None;
    if let Some(split) = usage.cache_creation {
        (five_minutes, one_hour) = (split.five_minutes, split.one_hour);
        extra.push_object("cache_creation", Extra::from(&split.rest));
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
    let web_search_count = usage.server_tool_use.and_then(|server| {
        extra.push_object("server_tool_use", Extra::from(&server.rest));
        server.web_search_requests
    });
    let thinking_tokens = usage.output_details.and_then(|details| {
        extra.push_object("output_tokens_details", Extra::from(&details.rest));
        details.thinking_tokens
    });
    UsageLine {
        service_tier: usage.service_tier,
        speed: usage.speed,
        inference_geo: usage.inference_geo,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_write_tokens,
        cache_write_5m_tokens: five_minutes,
        cache_write_1h_tokens: one_hour,
        cache_read_tokens: usage.cache_read_tokens,
        thinking_tokens,
        web_search_count,
        extra_json: extra.finish().map(Into::into),
        ..UsageLine::default()
    }
}
