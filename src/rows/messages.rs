//! Chain records: messages, their blocks, and the tool calls and results among these.

use super::{Text, Usage};

tables! {
    /// A chain record: one with a `uuid` and a `parentUuid`.
    "messages" => Message<'a> {
        "message_id" => message_id: i64,
        "uuid" => uuid: Text<'a>,
        "parent_uuid" => parent_uuid: Option<Text<'a>>,
        "parent_message_id" => parent_message_id: Option<i64>,
        "logical_parent_uuid" => logical_parent_uuid: Option<Text<'a>>,
        "logical_parent_message_id" => logical_parent_message_id: Option<i64>,
        "session_id" => session_id: Option<Text<'a>>,
        "agent_run_id" => agent_run_id: Option<i64>,
        "agent_id" => agent_id: Option<Text<'a>>,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "byte_length" => byte_length: i64,
        "type" => kind: Option<Text<'a>>,
        "subtype" => subtype: Option<Text<'a>>,
        "role" => role: Option<Text<'a>>,
        "prompt_kind" => prompt_kind: Option<&'static str>,
        "machine_kind" => machine_kind: Option<Text<'a>>,
        "prompt_text" => prompt_text: Option<Text<'a>>,
        "command_name" => command_name: Option<Text<'a>>,
        "command_arguments" => command_arguments: Option<Text<'a>>,
        "plan_session_id" => plan_session_id: Option<Text<'a>>,
        "model" => model: Option<Text<'a>>,
        "api_response_id" => api_response_id: Option<i64>,
        "request_id" => request_id: Option<Text<'a>>,
        "stop_reason" => stop_reason: Option<Text<'a>>,
        "prompt_id" => prompt_id: Option<Text<'a>>,
        "permission_mode" => permission_mode: Option<Text<'a>>,
        "prompt_source" => prompt_source: Option<Text<'a>>,
        "origin_kind" => origin_kind: Option<Text<'a>>,
        "effort" => effort: Option<Text<'a>>,
        "attribution_skill" => attribution_skill: Option<Text<'a>>,
        "attribution_plugin" => attribution_plugin: Option<Text<'a>>,
        "attribution_agent" => attribution_agent: Option<Text<'a>>,
        "attribution_mcp_server" => attribution_mcp_server: Option<Text<'a>>,
        "attribution_mcp_tool" => attribution_mcp_tool: Option<Text<'a>>,
        "error" => error: Option<Text<'a>>,
        "interrupted_message_id" => interrupted_message_id: Option<Text<'a>>,
        "tool_denial_kind" => tool_denial_kind: Option<Text<'a>>,
        "user_feedback" => user_feedback: Option<Text<'a>>,
        "tool_use_id" => tool_use_id: Option<Text<'a>>,
        "source_tool_use_id" => source_tool_use_id: Option<Text<'a>>,
        "parent_tool_use_id" => parent_tool_use_id: Option<Text<'a>>,
        "cause_tool_use_id" => cause_tool_use_id: Option<Text<'a>>,
        "forked_from_session_id" => forked_from_session_id: Option<Text<'a>>,
        "origin_session_id" => origin_session_id: Option<Text<'a>>,
        "session_kind" => session_kind: Option<Text<'a>>,
        "team_name" => team_name: Option<Text<'a>>,
        "agent_name" => agent_name: Option<Text<'a>>,
        "cwd" => cwd: Option<Text<'a>>,
        "git_branch" => git_branch: Option<Text<'a>>,
        "version" => version: Option<Text<'a>>,
        "entrypoint" => entrypoint: Option<Text<'a>>,
        "user_type" => user_type: Option<Text<'a>>,
        "slug" => slug: Option<Text<'a>>,
        "level" => level: Option<Text<'a>>,
        "content_hash" => content_hash: [u8; 16],
        "extra_json" => extra_json: Option<Text<'a>>,
        "is_sidechain" => is_sidechain: Option<bool>,
        "is_meta" => is_meta: Option<bool>,
        "is_compact_summary" => is_compact_summary: Option<bool>,
        "is_api_error" => is_api_error: Option<bool>,
        "has_string_content" => has_string_content: Option<bool>,
        "has_own_session" => has_own_session: Option<bool>,
        "duration_ms" => duration_ms: Option<i64>,
        "sent_at" => sent_at: Option<Text<'a>>,
    }

    /// A further line with the uuid of a message.
    "message_copies" => MessageCopy {
        "message_id" => message_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "byte_length" => byte_length: i64,
        "session_id" => session_id: Option<String>,
        "forked_from_session_id" => forked_from_session_id: Option<String>,
        "reason" => reason: &'static str,
        "content_hash" => content_hash: Vec<u8>,
        "extra_json" => extra_json: Option<String>,
        "is_different" => is_different: bool,
        "sent_at" => sent_at: Option<String>,
    }

    "content_blocks" => ContentBlock<'a> {
        "block_id" => block_id: i64,
        "message_id" => message_id: i64,
        "position" => position: i64,
        "part_number" => part_number: i64,
        "type" => kind: Option<Text<'a>>,
        "prompt_kind" => prompt_kind: Option<&'static str>,
        "text" => text: Option<Text<'a>>,
        "byte_length" => byte_length: Option<i64>,
        "media_type" => media_type: Option<Text<'a>>,
        "content_hash" => content_hash: Option<[u8; 32]>,
        "extra_json" => extra_json: Option<Text<'a>>,
    }

    "tool_uses" => ToolUse<'a> {
        "tool_use_id" => tool_use_id: Text<'a>,
        "message_id" => message_id: i64,
        "block_id" => block_id: i64,
        "tool_result_id" => tool_result_id: Option<i64>,
        "name" => name: Option<Text<'a>>,
        "mcp_server" => mcp_server: Option<Text<'a>>,
        "command" => command: Option<Text<'a>>,
        "file_path" => file_path: Option<Text<'a>>,
        "pattern" => pattern: Option<Text<'a>>,
        "url" => url: Option<Text<'a>>,
        "query" => query: Option<Text<'a>>,
        "description" => description: Option<Text<'a>>,
        "subagent_type" => subagent_type: Option<Text<'a>>,
        "skill" => skill: Option<Text<'a>>,
        "change_kind" => change_kind: Option<&'static str>,
        "input_json" => input_json: Option<Text<'a>>,
        "input_lines_added" => input_lines_added: Option<i64>,
        "input_lines_removed" => input_lines_removed: Option<i64>,
    }

    "tool_results" => ToolResult<'a> {
        "tool_result_id" => tool_result_id: i64,
        "tool_use_id" => tool_use_id: Option<Text<'a>>,
        "source_tool_use_id" => source_tool_use_id: Option<Text<'a>>,
        "message_id" => message_id: i64,
        "block_id" => block_id: i64,
        "outcome" => outcome: &'static str,
        "denial_reason" => denial_reason: Option<Text<'a>>,
        "reply" => reply: Option<Text<'a>>,
        "agent_id" => agent_id: Option<Text<'a>>,
        "workflow_id" => workflow_id: Option<Text<'a>>,
        "background_task_id" => background_task_id: Option<Text<'a>>,
        "persisted_name" => persisted_name: Option<Text<'a>>,
        "change_kind" => change_kind: Option<&'static str>,
        "changed_path" => changed_path: Option<Text<'a>>,
        "content" => content: Option<Text<'a>>,
        "details_json" => details_json: Option<Text<'a>>,
        "byte_length" => byte_length: Option<i64>,
        "persisted_bytes" => persisted_bytes: Option<i64>,
        "exit_code" => exit_code: Option<i64>,
        "duration_ms" => duration_ms: Option<i64>,
        "elapsed_ms" => elapsed_ms: Option<i64>,
        "lines_added" => lines_added: Option<i64>,
        "lines_removed" => lines_removed: Option<i64>,
        "line_count_source" => line_count_source: Option<&'static str>,
        "is_error" => is_error: Option<bool>,
        "is_user_modified" => is_user_modified: Option<bool>,
        "is_staged" => is_staged: Option<bool>,
        "is_kept_in_sandbox" => is_kept_in_sandbox: Option<bool>,
        "has_string_content" => has_string_content: Option<bool>,
    }

    /// A file that a tool call changed.
    "file_changes" => FileChange<'a> {
        "tool_use_id" => tool_use_id: Text<'a>,
        "file_path" => file_path: Text<'a>,
        "kind" => kind: Text<'a>,
        "lines_added" => lines_added: Option<i64>,
        "lines_removed" => lines_removed: Option<i64>,
        "line_count_source" => line_count_source: Option<Text<'a>>,
        "is_user_modified" => is_user_modified: Option<bool>,
    }

    /// A commit, push, branch or pull request.
    "git_operations" => GitOperation<'a> {
        "tool_result_id" => tool_result_id: i64,
        "kind" => kind: &'static str,
        "action" => action: Option<Text<'a>>,
        "branch" => branch: Option<Text<'a>>,
        "commit_sha" => commit_sha: Option<Text<'a>>,
        "pr_number" => pr_number: Option<i64>,
        "pr_url" => pr_url: Option<Text<'a>>,
    }

    /// A web page fetched, or a web search.
    "web_requests" => WebRequest<'a> {
        "tool_result_id" => tool_result_id: i64,
        "kind" => kind: &'static str,
        "url" => url: Option<Text<'a>>,
        "query" => query: Option<Text<'a>>,
        "status_code" => status_code: Option<i64>,
        "response_bytes" => response_bytes: Option<i64>,
        "search_count" => search_count: Option<i64>,
        "duration_ms" => duration_ms: Option<i64>,
    }

    /// Evidence from one line that a tool call spawned a sub-agent.
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    "agent_links" => AgentLink {
        "session_id" => session_id: String,
        "agent_id" => agent_id: String,
        "source_tool_use_id" => source_tool_use_id: String,
        "method" => method: &'static str,
    }

    /// A notification about a background task.
    "task_notifications" => TaskNotification<'a> {
        "message_id" => message_id: Option<i64>,
        "event_id" => event_id: Option<i64>,
        "file_id" => file_id: i64,
        "byte_offset" => byte_offset: i64,
        "position" => position: i64,
        "session_id" => session_id: Option<Text<'a>>,
        "background_task_id" => background_task_id: Option<Text<'a>>,
        "tool_use_id" => tool_use_id: Option<Text<'a>>,
        "status" => status: Option<Text<'a>>,
        "summary" => summary: Option<Text<'a>>,
        "result" => result: Option<Text<'a>>,
        "notified_at" => notified_at: Option<Text<'a>>,
    }
}

/// A chain record with the rows that belong to it.
#[derive(Debug, Default, Clone)]
pub struct MessageRows<'a> {
    pub message: Message<'a>,
    pub agent: Option<Agent<'a>>,
    /// In the order of the content.
    pub blocks: Vec<BlockRows<'a>>,
    pub usage: Option<Usage<'a>>,
    pub links: Vec<AgentLink>,
    /// The notifications that the message delivers.
    pub notifications: Vec<TaskNotification<'a>>,
}

/// A block with the tool call or result in it. Most blocks have neither, so both are boxed.
#[derive(Debug, Default, Clone)]
pub struct BlockRows<'a> {
    pub block: ContentBlock<'a>,
    pub tool_use: Option<Box<ToolUse<'a>>>,
    pub tool_result: Option<Box<ToolResult<'a>>>,
    pub git_operations: Vec<GitOperation<'a>>,
    pub web_request: Option<Box<WebRequest<'a>>>,
}

/// A sub-agent as a record names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Agent<'a> {
    pub session_id: Text<'a>,
    pub agent_id: Text<'a>,
    /// How its transcript is stored: the name of a [`crate::discover::Layout`]. `None` if the record is not part of it.
    pub layout: Option<&'static str>,
    /// The name of its workflow run's folder.
    pub workflow_id: Option<Text<'a>>,
}

into_owned! {
    MessageRows { message, agent, blocks, usage, links, notifications }
    BlockRows { block, tool_use, tool_result, git_operations, web_request }
    Agent { session_id, agent_id, layout, workflow_id }
}
