//! The tokens that a response used.

use super::json;

json::object! {
    /// `message.usage`.
    pub struct Usage {
        /// Uncached input only.
        "input_tokens" => input_tokens: count,
        /// Thinking included.
        "output_tokens" => output_tokens: count,
        /// All cache writes; could be 0 while the split below is not, before 2.1.152.
        "cache_creation_input_tokens" => cache_write_tokens: count,
        "cache_read_input_tokens" => cache_read_tokens: count,
        /// Since about 1.0.98: the writes by how long they live.
        "cache_creation" => cache_creation: CacheCreation,
        /// 0 for Claude Code's own WebSearch, which runs in a call of its own.
        "server_tool_use" => server_tool_use: ServerToolUse,
        /// Since about 2.1.240.
        "output_tokens_details" => output_details: OutputDetails,
        "service_tier" => service_tier: text,
        /// Since 2.1.17.
        "inference_geo" => inference_geo: text,
        /// Since 2.1.41.
        "speed" => speed: text,
    }
}

json::object! {
    /// `usage.cache_creation`.
    pub struct CacheCreation {
        "ephemeral_5m_input_tokens" => five_minutes: count,
        "ephemeral_1h_input_tokens" => one_hour: count,
    }
}

json::object! {
    /// `usage.server_tool_use`.
    pub struct ServerToolUse {
        "web_search_requests" => web_search_requests: count,
    }
}

json::object! {
    /// `usage.output_tokens_details`.
    pub struct OutputDetails {
        "thinking_tokens" => thinking_tokens: count,
    }
}
