//! The records of transcripts, with the names and values they have on disk.
//!
//! A line is parsed once, into structs that borrow from it. Every field is lenient: a value of an unexpected type is not an
//! error but goes to `rest`, like the keys that have no field. So no part of a line is lost here.

mod block;
pub(crate) mod fields;
pub mod kinds;
mod message;
mod usage;

pub use block::{Block, Content, ContentOf, Part, PartContent, Source};
pub(crate) use fields::object;
pub use fields::{GREATEST_COUNT, cost, count};
pub use message::Message;
pub use usage::{CacheCreation, OutputDetails, ServerToolUse, Usage};

use crate::json::Opened;

object! {
    /// One record: the fields that all chain records share, and those of each type.
    pub struct Record {
        /// Absent in `history.jsonl`.
        "type" => kind: text,
        "subtype" => subtype: text,
        "uuid" => uuid: text,
        /// Present in every chain record; null in the first record of a file and in a compaction.
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
        /// Since 2.1.15, on every prompt that was delivered and on no other record.
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
        /// Of system records.
        "content" => content: long_text,
        /// The structured result of a tool: richer than the text that the model gets.
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
        /// Since 2.1.204. If it differs from sessionId, the line is a copy from that session.
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
    /// Whether the record has a uuid and a parentUuid. Its type does not matter.
    pub fn is_chain(&self) -> bool {
        self.parent_uuid.is_some() && self.uuid.as_deref().is_some_and(|uuid| !uuid.is_empty())
    }
}

object! {
    /// `forkedFrom`: the origin of a copied record.
    pub struct Fork {
        "sessionId" => session_id: id,
    }
}

object! {
    /// `origin`: who sent a prompt.
    pub struct Origin {
        "kind" => kind: text,
    }
}

object! {
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
