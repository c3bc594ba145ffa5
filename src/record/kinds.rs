//! The record types, keys and block types that this version knows. Others are imported too, and counted in `unknown_kinds`, so
//! that changes of Claude Code's format are noticed.

use super::{HistoryLine, Record};
use crate::json::Object;

pub fn is_known(kind: &str) -> bool {
    CHAIN.contains(&kind) || state_keys(kind).is_some()
}

pub fn is_known_key(kind: &str, key: &str) -> bool {
    if CHAIN.contains(&kind) {
        return Record::KEYS.contains(&key) || CHAIN_KEYS.contains(&key);
    }
    match state_keys(kind) {
        // The record type is already reported as unknown.
        None => true,
        Some(keys) => keys.contains(&key) || STATE_ENVELOPE.contains(&key),
    }
}

pub fn is_known_history_key(key: &str) -> bool {
    HistoryLine::KEYS.contains(&key) || key == "pastedContents"
}

pub fn is_known_block(kind: &str) -> bool {
    BLOCKS.contains(&kind)
}

/// Record types with a uuid and a parentUuid.
const CHAIN: &[&str] = &["user", "assistant", "system", "attachment", "progress"];

/// Keys of chain records that have no column.
const CHAIN_KEYS: &[&str] = &[
    // All.
    "agentColor",
    "isTeammate",
    // User.
    "sourceToolAssistantUUID",
    "queueOrigin",
    "queuePriority",
    "queueSkipAttachments",
    "isVisibleInTranscriptOnly",
    "summarizeMetadata",
    "toolDenialUnanswered",
    "imagePasteIds",
    "thinkingMetadata",
    "todos",
    "mcpMeta",
    "classifierMetaLines",
    "turnCompanion",
    "toolEndsTurn",
    // Assistant.
    "apiErrorStatus",
    "errorDetails",
    "perTurnEffort",
    "apiBlockIndex",
    "wireToolInputs",
    "supersedesUuids",
    "isAbortedMidStream",
    "truncatedAfterOutput",
    "thinkingDurationMs",
    "advisorModel",
    "usage",
    // System.
    "compactMetadata",
    "microcompactMetadata",
    "messageCount",
    "pendingBackgroundAgentCount",
    "pendingWorkflowCount",
    "hookCount",
    "hookInfos",
    "hookErrors",
    "hookAdditionalContext",
    "preventedContinuation",
    "preventContinuation",
    "stopReason",
    "hasOutput",
    "cause",
    "retryInMs",
    "retryAttempt",
    "maxRetries",
    "source",
    "commandRun",
    "cronKind",
    "noOpStreak",
    "streakStartedAt",
    "foldedUuids",
    "url",
    "upgradeNudge",
    "trigger",
    "direction",
    "scope",
    "originalModel",
    "fallbackModel",
    "apiRefusalCategory",
    "apiRefusalExplanation",
    "retractedMessageUuids",
    "refusedUserMessageUuid",
    // Attachment.
    "rendered",
];

/// Keys that any state record may have.
const STATE_ENVELOPE: &[&str] = &["type", "sessionId", "timestamp", "uuid", "version", "cwd"];

/// The keys of a state record besides the envelope. State records are not part of the chain; most are rewritten after each turn.
fn state_keys(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "summary" => &["summary", "leafUuid"],
        "custom-title" => &["customTitle"],
        "ai-title" => &["aiTitle"],
        "agent-name" => &["agentName"],
        "agent-color" => &["agentColor"],
        "agent-setting" => &["agentSetting"],
        "tag" => &["tag"],
        "last-prompt" => &["lastPrompt", "leafUuid", "explicit"],
        "permission-mode" => &["permissionMode"],
        "mode" => &["mode"],
        "queue-operation" => &["operation", "content", "reason"],
        "file-history-snapshot" => &["messageId", "snapshot", "isSnapshotUpdate"],
        "file-history-delta" => &["messageId", "snapshotMessageId", "trackingPath", "backup"],
        "pr-link" => &["prNumber", "prUrl", "prRepository"],
        "frame-link" => &["path", "frameUrl", "title", "artifactCount"],
        "worktree-state" => &["worktreeSession"],
        "relocated" => &["relocatedCwd"],
        "continued-in" => &["continuedInSessionId"],
        "bridge-session" => &[
            "bridgeSessionId",
            "lastSequenceNum",
            "declaredDialogKinds",
            "sessionGroupingId",
            "noHistoryBackfill",
            "ownerAccountUuid",
            "ownerOrganizationUuid",
        ],
        "cost-state" => &[
            "totalCostUSD",
            "totalAPIDuration",
            "totalAPIDurationWithoutRetries",
            "totalToolDuration",
            "totalDuration",
            "totalLinesAdded",
            "totalLinesRemoved",
            "startTime",
            "modelUsage",
            "hasUnknownModelCost",
        ],
        "content-replacement" => &["agentId", "replacements"],
        "fork-context-ref" => &[
            "agentId",
            "parentSessionId",
            "parentLastUuid",
            "contextLength",
        ],
        "history-suppression" => &["cause", "vetoedAgainstAccountUuid", "ts"],
        "ended-by-model" => &[],
        "observer-ref" => &["observerTaskId", "observerAgentType"],
        "attribution-snapshot" => &["messageId", "surface", "fileStates", "promptCount"],
        "task-summary" => &["summary"],
        "speculation-accept" => &["timeSavedMs"],
        "marble-origami-commit" | "marble-origami-snapshot" | "marble-origami-reset" => &[
            "collapseId",
            "summaryUuid",
            "summaryContent",
            "summary",
            "firstArchivedUuid",
            "lastArchivedUuid",
            "staged",
            "armed",
            "lastSpawnTokens",
        ],
        "isolation-latch" => &["side"],
        "atis-latch" => &["atis"],
        "artifact-autoreact-ledger" => &["v", "accountUuid", "artifacts"],
        "artifact-comment-monitor" => &["v", "artifacts"],
        // Only the names are known, so all their keys are reported.
        "dev-mods" | "memory-mode" | "api-request-shape" | "api-request-blob"
        | "saved_hook_context" => &[],
        // Of journal.jsonl.
        "launched" => &[],
        "started" => &["key", "agentId", "label", "phase"],
        "result" => &["key", "agentId", "result"],
        "failed" => &["key", "agentId", "error"],
        _ => return None,
    })
}

const BLOCKS: &[&str] = &[
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "image",
    "document",
    "search_result",
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "advisor_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "mcp_tool_listing",
    "container_upload",
    "compaction",
    "fallback",
    "tool_reference",
];
