//! API responses, the lines that carry their usage, and prices.

use super::{Agent, Message, Text};

tables! {
    "model_prices" => ModelPrice {
        "model" => model: String,
        "valid_from" => valid_from: String,
        "origin" => origin: String,
        "source" => source: String,
        "input_usd" => input_usd: f64,
        "output_usd" => output_usd: f64,
        "cache_write_5m_usd" => cache_write_5m_usd: Option<f64>,
        "cache_write_1h_usd" => cache_write_1h_usd: Option<f64>,
        "cache_read_usd" => cache_read_usd: Option<f64>,
        "long_context_tokens" => long_context_tokens: Option<i64>,
        "long_input_usd" => long_input_usd: Option<f64>,
        "long_output_usd" => long_output_usd: Option<f64>,
        "long_cache_write_5m_usd" => long_cache_write_5m_usd: Option<f64>,
        "long_cache_write_1h_usd" => long_cache_write_1h_usd: Option<f64>,
        "long_cache_read_usd" => long_cache_read_usd: Option<f64>,
        "fast_multiplier" => fast_multiplier: Option<f64>,
        "us_multiplier" => us_multiplier: Option<f64>,
        "batch_multiplier" => batch_multiplier: f64,
        "web_search_usd" => web_search_usd: f64,
    }

    "api_responses" => ApiResponse<'a> {
        "api_response_id" => api_response_id: i64,
        "api_message_id" => api_message_id: Text<'a>,
        "message_id" => message_id: Option<i64>,
        "session_id" => session_id: Option<Text<'a>>,
        "agent_run_id" => agent_run_id: Option<i64>,
        "kind" => kind: &'static str,
        "request_id" => request_id: Option<Text<'a>>,
        "model" => model: Option<Text<'a>>,
        "service_tier" => service_tier: Option<Text<'a>>,
        "speed" => speed: Option<Text<'a>>,
        "inference_geo" => inference_geo: Option<Text<'a>>,
        "stop_reason" => stop_reason: Option<Text<'a>>,
        "usage_quality" => usage_quality: Option<&'static str>,
        "input_tokens" => input_tokens: Option<i64>,
        "output_tokens" => output_tokens: Option<i64>,
        "estimated_output_tokens" => estimated_output_tokens: Option<i64>,
        "cache_write_tokens" => cache_write_tokens: Option<i64>,
        "cache_write_5m_tokens" => cache_write_5m_tokens: Option<i64>,
        "cache_write_1h_tokens" => cache_write_1h_tokens: Option<i64>,
        "cache_read_tokens" => cache_read_tokens: Option<i64>,
        "thinking_tokens" => thinking_tokens: Option<i64>,
        "web_search_count" => web_search_count: Option<i64>,
        "visible_char_count" => visible_char_count: Option<i64>,
        "line_count" => line_count: Option<i64>,
        "recorded_cost_usd" => recorded_cost_usd: Option<f64>,
        "responded_at" => responded_at: Option<Text<'a>>,
    }

    /// A line that carries the usage of an API response.
    "usage_lines" => UsageLine<'a> {
        "api_response_id" => api_response_id: i64,
        "message_id" => message_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "session_id" => session_id: Option<Text<'a>>,
        "agent_run_id" => agent_run_id: Option<i64>,
        "request_id" => request_id: Option<Text<'a>>,
        "model" => model: Option<Text<'a>>,
        "service_tier" => service_tier: Option<Text<'a>>,
        "speed" => speed: Option<Text<'a>>,
        "inference_geo" => inference_geo: Option<Text<'a>>,
        "stop_reason" => stop_reason: Option<Text<'a>>,
        "duplicate_reason" => duplicate_reason: Option<Text<'a>>,
        "extra_json" => extra_json: Option<Text<'a>>,
        "input_tokens" => input_tokens: Option<i64>,
        "output_tokens" => output_tokens: Option<i64>,
        "cache_write_tokens" => cache_write_tokens: Option<i64>,
        "cache_write_5m_tokens" => cache_write_5m_tokens: Option<i64>,
        "cache_write_1h_tokens" => cache_write_1h_tokens: Option<i64>,
        "cache_read_tokens" => cache_read_tokens: Option<i64>,
        "thinking_tokens" => thinking_tokens: Option<i64>,
        "web_search_count" => web_search_count: Option<i64>,
        "visible_char_count" => visible_char_count: Option<i64>,
        "recorded_cost_usd" => recorded_cost_usd: Option<f64>,
        "is_progress" => is_progress: bool,
        "is_sidechain" => is_sidechain: bool,
        "is_fork" => is_fork: bool,
        "is_counted" => is_counted: bool,
        "sent_at" => sent_at: Option<Text<'a>>,
    }
}

/// The usage that a message carries.
#[derive(Debug, Default, Clone)]
pub struct Usage<'a> {
    /// `message.id`, or else the uuid of the line.
    pub api_message_id: Text<'a>,
    /// The sub-agent that used the tokens, when a progress record of its parent reports them.
    pub agent: Option<Agent<'a>>,
    pub line: UsageLine<'a>,
}

into_owned! {
    Usage { api_message_id, agent, line }
}

impl UsageLine<'_> {
    pub fn set_message(&mut self, message: &Message<'_>) {
        self.message_id = message.message_id;
        self.file_id = message.file_id;
        self.line_number = message.line_number;
        self.byte_offset = message.byte_offset;
    }
}
