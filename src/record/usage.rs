//! The token usage of an API response.

use super::object;

object! {
    /// `message.usage`.
    pub struct Usage {
        /// Without the input that was read from or written to the cache.
        "input_tokens" => input_tokens: count,
        /// Including thinking.
        "output_tokens" => output_tokens: count,
        /// All cache writes. Before 2.1.152 it may be 0 although `cache_creation` is not.
        "cache_creation_input_tokens" => cache_write_tokens: count,
        "cache_read_input_tokens" => cache_read_tokens: count,
        /// Since about 1.0.98: the cache writes by lifetime.
        "cache_creation" => cache_creation: CacheCreation,
        /// 0 for Claude Code's WebSearch, which sends a separate API request.
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

object! {
    /// `usage.cache_creation`.
    pub struct CacheCreation {
        "ephemeral_5m_input_tokens" => five_minutes: count,
        "ephemeral_1h_input_tokens" => one_hour: count,
    }
}

object! {
    /// `usage.server_tool_use`.
    pub struct ServerToolUse {
        "web_search_requests" => web_search_requests: count,
    }
}

object! {
    /// `usage.output_tokens_details`.
    pub struct OutputDetails {
        "thinking_tokens" => thinking_tokens: count,
    }
}
