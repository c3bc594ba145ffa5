//! API responses, the lines that carry their usage, and prices.

use super::{Agent, Event, Message, Text};

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
        "checked_on" => checked_on: String,
    }

    "api_responses" => ApiResponse<'a> {
        "api_response_id" => api_response_id: i64,
        "api_message_id" => api_message_id: Text<'a>,
        "id_scope" => id_scope: Text<'a>,
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
        "message_id" => message_id: Option<i64>,
        "event_id" => event_id: Option<i64>,
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
        "run_uuid" => run_uuid: Option<Text<'a>>,
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

/// The usage that a line carries.
#[derive(Debug, Default, Clone)]
pub struct Usage<'a> {
    /// `message.id`, or else what names the line.
    pub api_message_id: Text<'a>,
    /// Where that id names one response; empty if everywhere.
    pub id_scope: Text<'a>,
    /// The sub-agent that used the tokens, when a progress record of its parent reports them.
    pub agent: Option<Agent<'a>>,
    pub line: UsageLine<'a>,
}

into_owned! {
    Usage { api_message_id, id_scope, agent, line }
}

impl<'a> Usage<'a> {
    /// Names the response of a line. The API gives each response an id that begins with `msg_`. Gateways may repeat theirs:
    /// such an id names a response within its request or, if the line names none, within a run of lines. How far a run goes
    /// depends on other lines (`sql/derive`): until then the line is alone.
    pub fn set_scope(&mut self, line_name: &Text<'a>) {
        if self.api_message_id.starts_with("msg_") || self.api_message_id == *line_name {
            return;
        }
        match &self.line.request_id {
            Some(request_id) => self.id_scope = format!("request:{request_id}").into(),
            None => {
                self.id_scope = format!("run:{line_name}").into();
                self.line.run_uuid = Some(line_name.clone());
            }
        }
    }

    /// Id and scope in one string. No text has a NUL.
    pub fn response_name(&self) -> Text<'a> {
        match self.id_scope.is_empty() {
            true => self.api_message_id.clone(),
            false => format!("{}\0{}", self.api_message_id, self.id_scope).into(),
        }
    }
}

impl<'a> UsageLine<'a> {
    pub fn set_message(&mut self, message: &Message<'_>) {
        self.message_id = Some(message.message_id);
        self.file_id = message.file_id;
        self.line_number = message.line_number;
        self.byte_offset = message.byte_offset;
    }

    pub fn set_event(&mut self, event: &Event<'a>) {
        self.event_id = Some(event.event_id);
        self.file_id = event.file_id;
        self.line_number = event.line_number;
        self.byte_offset = event.byte_offset;
    }
}
