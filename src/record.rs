//! The records of transcripts, exactly as found on disk.
//!
//! A line is parsed once, into structs that borrow from it. Every field is lenient: a value of an unexpected type is
//! not an error but stays in `rest`, beside the keys that have no field, so that nothing of a line is ever dropped here.

mod block;
pub(crate) mod json;
pub mod kinds;
mod message;
pub(crate) mod reader;
mod usage;

pub use block::{Block, Content, ContentOf, Part, PartContent, Source};
pub(crate) use json::object;
pub use json::{
    GREATEST_COUNT, Json, Lenient, Object, Opened, Rest, cost as json_cost, count as json_count,
    flag as json_flag, number as json_number, parse_object, push_string, text as json_text,
};
pub use message::Message;
pub use reader::{NotJson, Raw, Reader, list as json_list};
pub use usage::{CacheCreation, OutputDetails, ServerToolUse, Usage};

json::object! {
    /// One record: the envelope that chain records share, and what each type adds to it.
    pub struct Record {
        /// Names the record; absent in `history.jsonl`.
        "type" => kind: text,
        "subtype" => subtype: text,
        /// A record with a uuid and a parentUuid is a link of the chain.
        "uuid" => uuid: text,
        /// Always there in chain records; null for the first record of a file and for a compaction.
        "parentUuid" => parent_uuid: nullable,
        "logicalParentUuid" => logical_parent_uuid: text,
        "sessionId" => session_id: id,
        "agentId" => agent_id: id,
        "timestamp" => timestamp: raw,
        "message" => message: Message,
        "isSidechain" => is_sidechain: flag,
        "isMeta" => is_meta: flag,
        "isCompactSummary" => is_compact_summary: flag,
        "isApiErrorMessage" => is_api_error: flag,
        "requestId" => request_id: text,
        /// Since about 2.1.91: the same for all user lines of a turn.
        "promptId" => prompt_id: text,
        /// Since 2.1.15, on every prompt that was delivered and on nothing else.
        "permissionMode" => permission_mode: text,
        "promptSource" => prompt_source: text,
        "toolUseID" => tool_use_id: text,
        "parentToolUseID" => parent_tool_use_id: text,
        "cwd" => cwd: text,
        "gitBranch" => git_branch: text,
        "version" => version: text,
        "entrypoint" => entrypoint: text,
        "userType" => user_type: text,
        "slug" => slug: text,
        "level" => level: text,
        /// Text of system records.
        "content" => content: long_text,
        /// What a tool returned, richer than what the model was shown.
        "toolUseResult" => tool_use_result: Opened,
        /// Of `attachment` records.
        "attachment" => attachment: raw,
        /// Of `progress` records.
        "data" => data: raw,
        /// On copies made by /branch and the SDK.
        "forkedFrom" => forked_from: Fork,
        /// Who sent a prompt.
        "origin" => origin: Origin,
        "effort" => effort: text,
        "attributionSkill" => attribution_skill: text,
        "attributionPlugin" => attribution_plugin: text,
        "attributionAgent" => attribution_agent: text,
        "attributionMcpServer" => attribution_mcp_server: text,
        "attributionMcpTool" => attribution_mcp_tool: text,
        "error" => error: text,
        "interruptedMessageId" => interrupted_message_id: text,
        /// Since 2.1.204.
        "toolDenialKind" => tool_denial_kind: text,
        "userFeedback" => user_feedback: long_text,
        "sourceToolUseID" => source_tool_use_id: text,
        /// Since 2.1.204; where it differs from sessionId, the line was copied from there.
        "session_id" => origin_session_id: id,
        "sessionKind" => session_kind: text,
        "teamName" => team_name: text,
        "agentName" => agent_name: text,
        "durationMs" => duration_ms: count,
        /// Up to 1.0.3.
        "costUSD" => cost_usd: raw,
        /// On the prompt that hands an accepted plan to a new session.
        "planContent" => plan_content: raw,
    }
}

impl Record<'_> {
    /// Whether it is a link of the chain: it has a uuid and a parentUuid, of whatever type it is.
    pub fn is_chain(&self) -> bool {
        self.parent_uuid.is_some() && self.uuid.as_deref().is_some_and(|uuid| !uuid.is_empty())
    }
}

json::object! {
    /// `forkedFrom`: where a record was copied from.
    pub struct Fork {
        "sessionId" => session_id: id,
    }
}

json::object! {
    /// `origin`: who sent a prompt.
    pub struct Origin {
        "kind" => kind: text,
    }
}

json::object! {
    /// A line of `history.jsonl`.
    pub struct HistoryLine {
        "display" => display: long_text,
        /// Milliseconds since 1970.
        "timestamp" => timestamp: milliseconds,
        "project" => project: text,
        /// Absent in older lines.
        "sessionId" => session_id: id,
    }
}
