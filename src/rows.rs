//! One plain struct per table that the importer fills, in the words of `sql/schema.sql`, where each column is explained.
//!
//! Keys that only the database can give (`file_id`, `message_id`, ...) are 0 until the loader sets them.

use crate::error::Result;
use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A row of a table.
pub trait Row: Sized {
    /// The table.
    const TABLE: &'static str;
    /// Its columns, as far as they are written from here.
    const COLUMNS: &'static [&'static str];

    /// Uses its values, one per column.
    fn with_values<T>(&self, used: impl FnOnce(&[ValueRef<'_>]) -> T) -> T;

    /// Runs a statement with one parameter per column.
    fn write(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        self.with_values(|values| bind(statement, values))?;
        statement.raw_execute()
    }

    /// The same with a row that is not needed any more. SQLite has its own copy of a text before it writes it, so a very
    /// long one is not held once more meanwhile, nor until the next row comes.
    fn write_last(self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        self.with_values(|values| bind(statement, values))?;
        drop(self);
        let written = statement.raw_execute();
        statement.clear_bindings();
        written
    }
}

/// What takes rows of every table.
pub trait Insert {
    /// Inserts a row.
    fn insert<R: Row>(&mut self, row: &R) -> Result<()>;
}

/// Binds the values of a row. Most are NULL, and so is what is not bound.
fn bind(statement: &mut Statement<'_>, values: &[ValueRef<'_>]) -> rusqlite::Result<()> {
    statement.clear_bindings();
    for (number, value) in (1..).zip(values) {
        if *value != ValueRef::Null {
            statement.raw_bind_parameter(number, ToSqlOutput::Borrowed(*value))?;
        }
    }
    Ok(())
}

/// What a column can hold.
trait Field {
    fn value(&self) -> ValueRef<'_>;
}

impl Field for i64 {
    fn value(&self) -> ValueRef<'_> {
        ValueRef::Integer(*self)
    }
}

impl Field for bool {
    fn value(&self) -> ValueRef<'_> {
        ValueRef::Integer(i64::from(*self))
    }
}

impl Field for f64 {
    fn value(&self) -> ValueRef<'_> {
        ValueRef::Real(*self)
    }
}

impl Field for String {
    fn value(&self) -> ValueRef<'_> {
        ValueRef::Text(self.as_bytes())
    }
}

impl Field for &'static str {
    fn value(&self) -> ValueRef<'_> {
        ValueRef::Text(self.as_bytes())
    }
}

impl Field for Vec<u8> {
    fn value(&self) -> ValueRef<'_> {
        ValueRef::Blob(self)
    }
}

impl<T: Field> Field for Option<T> {
    fn value(&self) -> ValueRef<'_> {
        self.as_ref().map_or(ValueRef::Null, Field::value)
    }
}

/// Declares the struct of a table and how it is written. `"column" => field` where Rust cannot use the column's name.
macro_rules! tables {
    ($(
        $(#[$meta:meta])*
        $table:literal => $name:ident { $( $column:literal => $field:ident : $type:ty ),* $(,)? }
    )*) => { $(
        $(#[$meta])*
        #[derive(Debug, Default, Clone)]
        #[allow(missing_docs)]
        pub struct $name { $( pub $field: $type ),* }

        impl Row for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] = &[$($column),*];

            fn with_values<T>(&self, used: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
                used(&[$(self.$field.value()),*])
            }
        }
    )* };
}

tables! {
    /// A version of a file.
    "files" => File {
        "file_id" => file_id: i64,
        "source_id" => source_id: i64,
        "project_id" => project_id: Option<i64>,
        "path" => path: String,
        "path_bytes" => path_bytes: Option<Vec<u8>>,
        "kind" => kind: &'static str,
        "session_id" => session_id: Option<String>,
        "generation" => generation: i64,
        "size_bytes" => size_bytes: i64,
        "archived_bytes" => archived_bytes: i64,
        "parsed_bytes" => parsed_bytes: i64,
        "line_count" => line_count: i64,
        "newline_count" => newline_count: i64,
        "blank_line_count" => blank_line_count: i64,
        "modified_ns" => modified_ns: i64,
        "changed_ns" => changed_ns: i64,
        "device" => device: i64,
        "inode" => inode: i64,
        "is_racy" => is_racy: bool,
        "is_current" => is_current: bool,
        "first_seen_at" => first_seen_at: String,
        "last_synced_at" => last_synced_at: String,
    }

    /// A piece of a file's bytes.
    "archive_chunks" => ArchiveChunk {
        "file_id" => file_id: i64,
        "position" => position: i64,
        "byte_offset" => byte_offset: i64,
        "byte_length" => byte_length: i64,
        "content" => content: Vec<u8>,
        "content_hash" => content_hash: Vec<u8>,
    }

    /// A fragment that is no record.
    "rejected_lines" => RejectedLine {
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "reason" => reason: &'static str,
        "raw" => raw: Vec<u8>,
    }

    /// A chain record.
    "messages" => Message {
        "message_id" => message_id: i64,
        "uuid" => uuid: String,
        "parent_uuid" => parent_uuid: Option<String>,
        "parent_message_id" => parent_message_id: Option<i64>,
        "logical_parent_uuid" => logical_parent_uuid: Option<String>,
        "logical_parent_message_id" => logical_parent_message_id: Option<i64>,
        "session_id" => session_id: Option<String>,
        "agent_key" => agent_key: Option<i64>,
        "agent_id" => agent_id: Option<String>,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "byte_length" => byte_length: i64,
        "type" => kind: Option<String>,
        "subtype" => subtype: Option<String>,
        "role" => role: Option<String>,
        "prompt_kind" => prompt_kind: Option<&'static str>,
        "machine_kind" => machine_kind: Option<String>,
        "prompt_text" => prompt_text: Option<String>,
        "command_name" => command_name: Option<String>,
        "command_arguments" => command_arguments: Option<String>,
        "plan_session_id" => plan_session_id: Option<String>,
        "model" => model: Option<String>,
        "api_response_id" => api_response_id: Option<i64>,
        "request_id" => request_id: Option<String>,
        "stop_reason" => stop_reason: Option<String>,
        "prompt_id" => prompt_id: Option<String>,
        "permission_mode" => permission_mode: Option<String>,
        "prompt_source" => prompt_source: Option<String>,
        "origin_kind" => origin_kind: Option<String>,
        "effort" => effort: Option<String>,
        "attribution_skill" => attribution_skill: Option<String>,
        "attribution_plugin" => attribution_plugin: Option<String>,
        "attribution_agent" => attribution_agent: Option<String>,
        "attribution_mcp_server" => attribution_mcp_server: Option<String>,
        "attribution_mcp_tool" => attribution_mcp_tool: Option<String>,
        "error" => error: Option<String>,
        "interrupted_message_id" => interrupted_message_id: Option<String>,
        "tool_denial_kind" => tool_denial_kind: Option<String>,
        "user_feedback" => user_feedback: Option<String>,
        "tool_use_id" => tool_use_id: Option<String>,
        "parent_tool_use_id" => parent_tool_use_id: Option<String>,
        "source_tool_use_id" => source_tool_use_id: Option<String>,
        "forked_from_session_id" => forked_from_session_id: Option<String>,
        "origin_session_id" => origin_session_id: Option<String>,
        "session_kind" => session_kind: Option<String>,
        "team_name" => team_name: Option<String>,
        "agent_name" => agent_name: Option<String>,
        "cwd" => cwd: Option<String>,
        "git_branch" => git_branch: Option<String>,
        "version" => version: Option<String>,
        "entrypoint" => entrypoint: Option<String>,
        "user_type" => user_type: Option<String>,
        "slug" => slug: Option<String>,
        "level" => level: Option<String>,
        "content_hash" => content_hash: Vec<u8>,
        "extra_json" => extra_json: Option<String>,
        "is_sidechain" => is_sidechain: Option<bool>,
        "is_meta" => is_meta: Option<bool>,
        "is_compact_summary" => is_compact_summary: Option<bool>,
        "is_api_error" => is_api_error: Option<bool>,
        "has_string_content" => has_string_content: Option<bool>,
        "has_own_session" => has_own_session: Option<bool>,
        "duration_ms" => duration_ms: Option<i64>,
        "sent_at" => sent_at: Option<String>,
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

    /// A block of content.
    "content_blocks" => ContentBlock {
        "block_id" => block_id: i64,
        "message_id" => message_id: i64,
        "position" => position: i64,
        "part_number" => part_number: i64,
        "type" => kind: Option<String>,
        "prompt_kind" => prompt_kind: Option<&'static str>,
        "text" => text: Option<String>,
        "byte_length" => byte_length: Option<i64>,
        "media_type" => media_type: Option<String>,
        "content_hash" => content_hash: Option<Vec<u8>>,
        "extra_json" => extra_json: Option<String>,
    }

    /// A tool call.
    "tool_uses" => ToolUse {
        "tool_use_id" => tool_use_id: String,
        "message_id" => message_id: i64,
        "block_id" => block_id: i64,
        "tool_result_id" => tool_result_id: Option<i64>,
        "name" => name: Option<String>,
        "mcp_server" => mcp_server: Option<String>,
        "command" => command: Option<String>,
        "file_path" => file_path: Option<String>,
        "pattern" => pattern: Option<String>,
        "url" => url: Option<String>,
        "query" => query: Option<String>,
        "description" => description: Option<String>,
        "subagent_type" => subagent_type: Option<String>,
        "skill" => skill: Option<String>,
        "change_kind" => change_kind: Option<&'static str>,
        "input_json" => input_json: Option<String>,
        "input_lines_added" => input_lines_added: Option<i64>,
        "input_lines_removed" => input_lines_removed: Option<i64>,
    }

    /// An answer to a tool call.
    "tool_results" => ToolResult {
        "tool_result_id" => tool_result_id: i64,
        "tool_use_id" => tool_use_id: Option<String>,
        "source_tool_use_id" => source_tool_use_id: Option<String>,
        "message_id" => message_id: i64,
        "block_id" => block_id: i64,
        "outcome" => outcome: &'static str,
        "denial_reason" => denial_reason: Option<String>,
        "agent_id" => agent_id: Option<String>,
        "workflow_run_id" => workflow_run_id: Option<String>,
        "background_task_id" => background_task_id: Option<String>,
        "persisted_name" => persisted_name: Option<String>,
        "change_kind" => change_kind: Option<&'static str>,
        "changed_path" => changed_path: Option<String>,
        "content" => content: Option<String>,
        "details_json" => details_json: Option<String>,
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
        "has_string_content" => has_string_content: Option<bool>,
    }

    /// A commit, push, branch or pull request.
    "git_operations" => GitOperation {
        "tool_result_id" => tool_result_id: i64,
        "kind" => kind: &'static str,
        "action" => action: Option<String>,
        "branch" => branch: Option<String>,
        "commit_sha" => commit_sha: Option<String>,
        "pr_number" => pr_number: Option<i64>,
        "pr_url" => pr_url: Option<String>,
    }

    /// A page fetched or a search made.
    "web_requests" => WebRequest {
        "tool_result_id" => tool_result_id: i64,
        "kind" => kind: &'static str,
        "url" => url: Option<String>,
        "query" => query: Option<String>,
        "status_code" => status_code: Option<i64>,
        "response_bytes" => response_bytes: Option<i64>,
        "search_count" => search_count: Option<i64>,
        "duration_ms" => duration_ms: Option<i64>,
    }

    /// An agent and the call that spawned it, as one line tells it.
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    "agent_links" => AgentLink {
        "session_id" => session_id: String,
        "agent_id" => agent_id: String,
        "tool_use_id" => tool_use_id: String,
        "method" => method: &'static str,
    }

    /// A notice about a task in the background.
    "task_notifications" => TaskNotification {
        "message_id" => message_id: Option<i64>,
        "event_id" => event_id: Option<i64>,
        "file_id" => file_id: i64,
        "byte_offset" => byte_offset: i64,
        "position" => position: i64,
        "session_id" => session_id: Option<String>,
        "task_id" => task_id: Option<String>,
        "tool_use_id" => tool_use_id: Option<String>,
        "status" => status: Option<String>,
        "summary" => summary: Option<String>,
        "result" => result: Option<String>,
        "notified_at" => notified_at: Option<String>,
    }

    /// A record without a uuid.
    "events" => Event {
        "event_id" => event_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "type" => kind: Option<String>,
        "session_id" => session_id: Option<String>,
        "message_uuid" => message_uuid: Option<String>,
        "related_session_id" => related_session_id: Option<String>,
        "payload_json" => payload_json: String,
        "occurred_at" => occurred_at: Option<String>,
    }

    /// A file in a snapshot.
    "file_backups" => FileBackup {
        "event_id" => event_id: i64,
        "session_id" => session_id: Option<String>,
        "message_uuid" => message_uuid: Option<String>,
        "file_path" => file_path: String,
        "backup_name" => backup_name: Option<String>,
        "version" => version: Option<i64>,
        "backed_up_at" => backed_up_at: Option<String>,
    }

    /// A line of history.jsonl.
    "history_prompts" => HistoryPrompt {
        "history_prompt_id" => history_prompt_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "session_id" => session_id: Option<String>,
        "project_path" => project_path: Option<String>,
        "display" => display: Option<String>,
        "extra_json" => extra_json: Option<String>,
        "prompted_at" => prompted_at: Option<String>,
    }

    /// A thing pasted into a prompt.
    "pasted_contents" => PastedContent {
        "history_prompt_id" => history_prompt_id: i64,
        "paste_number" => paste_number: i64,
        "kind" => kind: Option<String>,
        "cache_name" => cache_name: Option<String>,
        "media_type" => media_type: Option<String>,
        "content" => content: Option<String>,
        "extra_json" => extra_json: Option<String>,
    }

    /// A file of paste-cache.
    "pastes" => Paste {
        "file_id" => file_id: i64,
        "cache_name" => cache_name: String,
        "content" => content: Option<String>,
    }

    /// An item of a todo list.
    "todos" => Todo {
        "file_id" => file_id: i64,
        "session_id" => session_id: Option<String>,
        "agent_id" => agent_id: Option<String>,
        "position" => position: i64,
        "content" => content: Option<String>,
        "status" => status: Option<String>,
        "priority" => priority: Option<String>,
        "active_form" => active_form: Option<String>,
        "extra_json" => extra_json: Option<String>,
    }

    /// A task.
    "tasks" => Task {
        "file_id" => file_id: i64,
        "list_name" => list_name: String,
        "task_id" => task_id: Option<String>,
        "subject" => subject: Option<String>,
        "description" => description: Option<String>,
        "active_form" => active_form: Option<String>,
        "status" => status: Option<String>,
        "owner" => owner: Option<String>,
        "blocks_json" => blocks_json: Option<String>,
        "blocked_by_json" => blocked_by_json: Option<String>,
        "extra_json" => extra_json: Option<String>,
    }

    /// A plan.
    "plans" => Plan {
        "file_id" => file_id: i64,
        "slug" => slug: String,
        "content" => content: Option<String>,
    }

    /// A note about a project.
    "memory_notes" => MemoryNote {
        "file_id" => file_id: i64,
        "name" => name: String,
        "content" => content: Option<String>,
    }

    /// An output kept beside its transcript.
    "tool_result_files" => ToolResultFile {
        "file_id" => file_id: i64,
        "session_id" => session_id: Option<String>,
        "name" => name: String,
        "content" => content: Option<String>,
        "byte_length" => byte_length: i64,
    }

    /// What was noted about an agent.
    "agent_metas" => AgentMeta {
        "file_id" => file_id: i64,
        "session_id" => session_id: String,
        "agent_id" => agent_id: String,
        "agent_type" => agent_type: Option<String>,
        "description" => description: Option<String>,
        "name" => name: Option<String>,
        "model" => model: Option<String>,
        "tool_use_id" => tool_use_id: Option<String>,
        "parent_agent_id" => parent_agent_id: Option<String>,
        "worktree_path" => worktree_path: Option<String>,
        "worktree_branch" => worktree_branch: Option<String>,
        "workflow_phase" => workflow_phase: Option<String>,
        "extra_json" => extra_json: Option<String>,
        "spawn_depth" => spawn_depth: Option<i64>,
        "is_fork" => is_fork: Option<bool>,
        "is_stopped_by_user" => is_stopped_by_user: Option<bool>,
    }

    /// A workflow that came to its end.
    "workflow_runs" => WorkflowRun {
        "file_id" => file_id: i64,
        "session_id" => session_id: String,
        "workflow_run_id" => workflow_run_id: Option<String>,
        "task_id" => task_id: Option<String>,
        "name" => name: Option<String>,
        "status" => status: Option<String>,
        "extra_json" => extra_json: Option<String>,
        "duration_ms" => duration_ms: Option<i64>,
        "agent_count" => agent_count: Option<i64>,
        "total_tokens" => total_tokens: Option<i64>,
        "tool_call_count" => tool_call_count: Option<i64>,
        "started_at" => started_at: Option<String>,
    }

    /// A session that an index tells of.
    "session_hints" => SessionHint {
        "file_id" => file_id: i64,
        "position" => position: i64,
        "session_id" => session_id: Option<String>,
        "custom_title" => custom_title: Option<String>,
        "summary" => summary: Option<String>,
        "first_prompt" => first_prompt: Option<String>,
        "project_path" => project_path: Option<String>,
        "git_branch" => git_branch: Option<String>,
        "extra_json" => extra_json: Option<String>,
        "message_count" => message_count: Option<i64>,
        "created_at" => created_at: Option<String>,
        "modified_at" => modified_at: Option<String>,
    }

    /// A number of stats-cache.json.
    "usage_statistics" => UsageStatistic {
        "file_id" => file_id: i64,
        "scope" => scope: &'static str,
        "activity_date" => activity_date: String,
        "model" => model: String,
        "extra_json" => extra_json: Option<String>,
        "message_count" => message_count: Option<i64>,
        "session_count" => session_count: Option<i64>,
        "tool_call_count" => tool_call_count: Option<i64>,
        "total_tokens" => total_tokens: Option<i64>,
        "input_tokens" => input_tokens: Option<i64>,
        "output_tokens" => output_tokens: Option<i64>,
        "cache_read_tokens" => cache_read_tokens: Option<i64>,
        "cache_write_tokens" => cache_write_tokens: Option<i64>,
        "web_search_count" => web_search_count: Option<i64>,
        "cost_usd" => cost_usd: Option<f64>,
    }

    /// A price of a model.
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

    /// A response of the model.
    "api_responses" => ApiResponse {
        "api_response_id" => api_response_id: i64,
        "api_message_id" => api_message_id: String,
        "message_id" => message_id: Option<i64>,
        "session_id" => session_id: Option<String>,
        "agent_key" => agent_key: Option<i64>,
        "kind" => kind: &'static str,
        "request_id" => request_id: Option<String>,
        "model" => model: Option<String>,
        "service_tier" => service_tier: Option<String>,
        "speed" => speed: Option<String>,
        "inference_geo" => inference_geo: Option<String>,
        "stop_reason" => stop_reason: Option<String>,
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
        "responded_at" => responded_at: Option<String>,
    }

    /// A line that carried usage.
    "usage_lines" => UsageLine {
        "api_response_id" => api_response_id: i64,
        "message_id" => message_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "session_id" => session_id: Option<String>,
        "agent_key" => agent_key: Option<i64>,
        "request_id" => request_id: Option<String>,
        "model" => model: Option<String>,
        "service_tier" => service_tier: Option<String>,
        "speed" => speed: Option<String>,
        "inference_geo" => inference_geo: Option<String>,
        "stop_reason" => stop_reason: Option<String>,
        "duplicate_reason" => duplicate_reason: Option<String>,
        "extra_json" => extra_json: Option<String>,
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
        "sent_at" => sent_at: Option<String>,
    }
}

/// What the lines of one chunk come to.
#[derive(Debug, Default)]
pub struct Rows {
    /// Chain records, each with what belongs to it.
    pub messages: Vec<Box<MessageRows>>,
    /// Other records.
    pub events: Vec<EventRows>,
    /// Lines of `history.jsonl`.
    pub history_prompts: Vec<HistoryRows>,
    /// What a file is that is read as a whole.
    pub documents: Vec<Document>,
    /// Fragments.
    pub rejected_lines: Vec<RejectedLine>,
    /// Names that are not known.
    pub unknown_kinds: Vec<UnknownKind>,
    /// Newlines met.
    pub newline_count: i64,
    /// Lines of nothing but blanks.
    pub blank_line_count: i64,
    /// Whether a line without its newline stands at the end.
    pub has_tail: bool,
}

/// A chain record with what belongs to it.
#[derive(Debug, Default, Clone)]
pub struct MessageRows {
    /// The message.
    pub message: Message,
    /// Its agent, by its id in the session, and where that agent's lines stand.
    pub agent: Option<Agent>,
    /// Its blocks, in order.
    pub blocks: Vec<BlockRows>,
    /// The usage it carries.
    pub usage: Option<Usage>,
    /// What it tells of agents and the calls that spawned them.
    pub links: Vec<AgentLink>,
    /// The notifications it delivers.
    pub notifications: Vec<TaskNotification>,
}

/// A block with the tool call or result that it is.
#[derive(Debug, Default, Clone)]
pub struct BlockRows {
    /// The block.
    pub block: ContentBlock,
    /// The call.
    pub tool_use: Option<ToolUse>,
    /// The answer.
    pub tool_result: Option<ToolResult>,
    /// What the answer tells of git.
    pub git_operations: Vec<GitOperation>,
    /// What the answer tells of the web.
    pub web_request: Option<WebRequest>,
}

/// An agent as a record names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Agent {
    /// The session it serves.
    pub session_id: String,
    /// Its id there.
    pub agent_id: String,
    /// Where its lines stand.
    pub layout: &'static str,
    /// The run of the workflow it belongs to, by its folder.
    pub workflow_run_id: Option<String>,
}

/// Usage of a response.
#[derive(Debug, Default, Clone)]
pub struct Usage {
    /// `message.id`, else the uuid.
    pub api_message_id: String,
    /// The agent that is charged, when it is another than the message's: a progress record tells of it.
    pub agent: Option<Agent>,
    /// The numbers.
    pub line: UsageLine,
}

/// A record without a uuid, with what belongs to it.
#[derive(Debug, Default)]
pub struct EventRows {
    /// The event.
    pub event: Event,
    /// The files of a snapshot.
    pub file_backups: Vec<FileBackup>,
    /// What it tells of agents and the calls that spawned them.
    pub links: Vec<AgentLink>,
    /// The notifications that were queued.
    pub notifications: Vec<TaskNotification>,
}

/// A line of `history.jsonl`, with what was pasted.
#[derive(Debug, Default)]
pub struct HistoryRows {
    /// The prompt.
    pub prompt: HistoryPrompt,
    /// What was pasted.
    pub pasted_contents: Vec<PastedContent>,
}

impl Document {
    /// Says of a document that is too large for a column how large it is.
    pub fn leave_to_archive(&mut self, size: u64) {
        match self {
            Document::ToolResultFile(file) => {
                file.content = None;
                file.byte_length = size.cast_signed();
            }
            Document::Paste(Paste { content, .. })
            | Document::Plan(Plan { content, .. })
            | Document::MemoryNote(MemoryNote { content, .. }) => *content = None,
            _ => {}
        }
    }
}

/// Declares the documents: tables whose rows come from files that are read as a whole, each with its file.
macro_rules! documents {
    ($($name:ident),*) => {
        /// A row that comes from a file that is read as a whole.
        #[derive(Debug)]
        #[allow(missing_docs)]
        pub enum Document { $( $name($name) ),* }

        impl Document {
            /// The tables.
            pub const TABLES: &'static [&'static str] = &[$(<$name as Row>::TABLE),*];

            /// Inserts the row of a file.
            pub fn insert(self, file_id: i64, target: &mut impl Insert) -> Result<()> {
                match self {
                    $( Document::$name(mut row) => {
                        row.file_id = file_id;
                        target.insert(&row)
                    } )*
                }
            }
        }
    };
}

documents! {
    Paste, Todo, Task, Plan, MemoryNote, ToolResultFile, AgentMeta, WorkflowRun, SessionHint, UsageStatistic
}

/// A name that this version does not know.
#[derive(Debug, Clone)]
pub struct UnknownKind {
    /// record, block or key.
    pub level: &'static str,
    /// The name.
    pub name: String,
    /// Who wrote it.
    pub version: Option<String>,
    /// Where, counted from the first line of the chunk.
    pub line_number: i64,
}

impl UsageLine {
    /// Says that it is the line of a message.
    pub fn of(&mut self, message: &Message) {
        self.message_id = message.message_id;
        self.file_id = message.file_id;
        self.line_number = message.line_number;
        self.byte_offset = message.byte_offset;
    }
}

impl ToolUse {
    /// Whether nothing but its answer depends on it: what a search found counts for its response.
    pub fn is_plain(&self) -> bool {
        self.name.as_deref() != Some("WebSearch")
    }
}

impl TaskNotification {
    /// Says that a message delivers it.
    pub fn deliver(&mut self, message: &Message) {
        self.message_id = Some(message.message_id);
        self.file_id = message.file_id;
        self.byte_offset = message.byte_offset;
        self.session_id.clone_from(&message.session_id);
        self.notified_at.clone_from(&message.sent_at);
    }

    /// Says that an event queued it.
    pub fn queue(&mut self, event: &Event) {
        self.event_id = Some(event.event_id);
        self.file_id = event.file_id;
        self.byte_offset = event.byte_offset;
        self.session_id.clone_from(&event.session_id);
        self.notified_at.clone_from(&event.occurred_at);
    }
}
