//! One plain struct per table that the importer fills, in the words of `sql/schema.sql`, where each column is explained.
//!
//! Keys that only the database can give (`file_id`, `message_id`, ...) are 0 until the loader sets them.
//!
//! Rows of lines borrow their texts from the lines, as far as these have no escapes: a message has some twenty, most of them
//! short. Who keeps a row longer than its chunk makes it its own with `into_owned`.

use crate::archive::Hash;
use crate::error::Result;
use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::borrow::Cow;

/// A text of a line.
pub type Text<'a> = Cow<'a, str>;

/// A row of a table.
pub trait Row: Sized {
    /// The table.
    const TABLE: &'static str;
    /// Its number among those of all rows: quicker to look up than its name.
    const NUMBER: usize;
    /// Its columns, as far as they are written from here.
    const COLUMNS: &'static [&'static str];

    /// Uses its values, one per column.
    fn with_values<T>(&self, used: impl FnOnce(&[ValueRef<'_>]) -> T) -> T;

    /// Runs a statement with one parameter per column.
    fn write(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        self.with_values(|values| bind(statement, values))?;
        statement.raw_execute()
    }

    /// The same with a row that is not needed afterwards. SQLite has a copy of each string before it writes the row, so one
    /// with long strings is freed early.
    fn write_last(&mut self, statement: &mut Statement<'_>) -> rusqlite::Result<usize>
    where
        Self: Default,
    {
        let length = self.with_values(|values| {
            bind(statement, values)?;
            Ok::<_, rusqlite::Error>(values.iter().map(value_length).sum::<usize>())
        })?;
        let is_long = length > LONG_ROW_BYTES;
        if is_long {
            *self = Self::default();
        }
        let written = statement.raw_execute();
        if is_long {
            statement.clear_bindings();
        }
        written
    }
}

/// A row with more text than this is freed as early as possible.
const LONG_ROW_BYTES: usize = 1 << 20;

fn value_length(value: &ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        _ => 0,
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
    /// The same without what is borrowed.
    type Owned;

    fn value(&self) -> ValueRef<'_>;

    fn into_owned(self) -> Self::Owned;
}

/// Declares columns that borrow nothing.
macro_rules! fields {
    ($( $type:ty => |$field:ident| $value:expr ),* $(,)?) => { $(
        impl Field for $type {
            type Owned = $type;

            fn value(&self) -> ValueRef<'_> {
                let $field = self;
                $value
            }

            fn into_owned(self) -> $type {
                self
            }
        }
    )* };
}

fields! {
    i64 => |number| ValueRef::Integer(*number),
    bool => |flag| ValueRef::Integer(i64::from(*flag)),
    f64 => |number| ValueRef::Real(*number),
    String => |text| ValueRef::Text(text.as_bytes()),
    &'static str => |text| ValueRef::Text(text.as_bytes()),
    Vec<u8> => |bytes| ValueRef::Blob(bytes),
    [u8; 16] => |hash| ValueRef::Blob(hash),
    [u8; 32] => |hash| ValueRef::Blob(hash),
}

impl Field for Text<'_> {
    type Owned = Text<'static>;

    fn value(&self) -> ValueRef<'_> {
        ValueRef::Text(self.as_bytes())
    }

    fn into_owned(self) -> Text<'static> {
        Cow::Owned(Cow::into_owned(self))
    }
}

impl<T: Field> Field for Option<T> {
    type Owned = Option<T::Owned>;

    fn value(&self) -> ValueRef<'_> {
        self.as_ref().map_or(ValueRef::Null, Field::value)
    }

    fn into_owned(self) -> Option<T::Owned> {
        self.map(Field::into_owned)
    }
}

/// Declares the struct of a table and how it is written. `"column" => field` where Rust cannot use the column's name.
macro_rules! tables {
    ($(
        $(#[$meta:meta])*
        $table:literal => $name:ident $(<$line:lifetime>)? {
            $( $column:literal => $field:ident : $type:ty ),* $(,)?
        }
    )*) => {
        /// All of them.
        enum Number { $( $name ),* }

        /// The tables that rows are of, with the columns that have values, by their numbers.
        pub const ROW_TABLES: &[(&str, &[&str])] = &[$( ($table, &[$($column),*]) ),*];

    $(
        $(#[$meta])*
        #[derive(Debug, Default, Clone)]
        #[allow(missing_docs)]
        pub struct $name $(<$line>)? { $( pub $field: $type ),* }

        own! { $name $(<$line>)? { $($field),* } }

        impl $(<$line>)? Row for $name $(<$line>)? {
            const TABLE: &'static str = $table;
            const NUMBER: usize = Number::$name as usize;
            const COLUMNS: &'static [&'static str] = &[$($column),*];

            fn with_values<T>(&self, used: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
                used(&[$(self.$field.value()),*])
            }
        }
    )* };
}

/// How a row that borrows becomes its own.
macro_rules! own {
    ($name:ident { $( $field:ident ),* }) => {};
    ($name:ident <$line:lifetime> { $( $field:ident ),* }) => {
        impl $name<'_> {
            /// The same, borrowing nothing.
            pub fn into_owned(self) -> $name<'static> {
                $name { $( $field: Field::into_owned(self.$field) ),* }
            }
        }
    };
}

tables! {
    /// A version of a file.
    "files" => File {
        "file_id" => file_id: i64,
        "source_id" => source_id: i64,
        "project_id" => project_id: Option<i64>,
        "path" => path: String,
        "path_bytes" => path_bytes: Option<Vec<u8>>,
        "archived_hash" => archived_hash: Option<Hash>,
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
        "missing_since" => missing_since: Option<String>,
    }

    /// A piece of a file's bytes.
    "archive_chunks" => ArchiveChunk {
        "file_id" => file_id: i64,
        "position" => position: i64,
        "byte_offset" => byte_offset: i64,
        "byte_length" => byte_length: i64,
        "content" => content: Vec<u8>,
        "content_hash" => content_hash: Hash,
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
    "messages" => Message<'a> {
        "message_id" => message_id: i64,
        "uuid" => uuid: Text<'a>,
        "parent_uuid" => parent_uuid: Option<Text<'a>>,
        "parent_message_id" => parent_message_id: Option<i64>,
        "logical_parent_uuid" => logical_parent_uuid: Option<Text<'a>>,
        "logical_parent_message_id" => logical_parent_message_id: Option<i64>,
        "session_id" => session_id: Option<Text<'a>>,
        "agent_key" => agent_key: Option<i64>,
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
        "parent_tool_use_id" => parent_tool_use_id: Option<Text<'a>>,
        "source_tool_use_id" => source_tool_use_id: Option<Text<'a>>,
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

    /// A block of content.
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

    /// A tool call.
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

    /// An answer to a tool call.
    "tool_results" => ToolResult<'a> {
        "tool_result_id" => tool_result_id: i64,
        "tool_use_id" => tool_use_id: Option<Text<'a>>,
        "source_tool_use_id" => source_tool_use_id: Option<Text<'a>>,
        "message_id" => message_id: i64,
        "block_id" => block_id: i64,
        "outcome" => outcome: &'static str,
        "denial_reason" => denial_reason: Option<Text<'a>>,
        "agent_id" => agent_id: Option<Text<'a>>,
        "workflow_run_id" => workflow_run_id: Option<Text<'a>>,
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
        "has_string_content" => has_string_content: Option<bool>,
    }

    /// A file changed by a tool call.
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

    /// A page fetched or a search made.
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

    /// An agent and the call that spawned it, as one line tells it.
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    "agent_links" => AgentLink {
        "session_id" => session_id: String,
        "agent_id" => agent_id: String,
        "tool_use_id" => tool_use_id: String,
        "method" => method: &'static str,
    }

    /// A notice about a task in the background.
    "task_notifications" => TaskNotification<'a> {
        "message_id" => message_id: Option<i64>,
        "event_id" => event_id: Option<i64>,
        "file_id" => file_id: i64,
        "byte_offset" => byte_offset: i64,
        "position" => position: i64,
        "session_id" => session_id: Option<Text<'a>>,
        "task_id" => task_id: Option<Text<'a>>,
        "tool_use_id" => tool_use_id: Option<Text<'a>>,
        "status" => status: Option<Text<'a>>,
        "summary" => summary: Option<Text<'a>>,
        "result" => result: Option<Text<'a>>,
        "notified_at" => notified_at: Option<Text<'a>>,
    }

    /// A record without a uuid.
    "events" => Event<'a> {
        "event_id" => event_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "type" => kind: Option<Text<'a>>,
        "session_id" => session_id: Option<Text<'a>>,
        "message_uuid" => message_uuid: Option<Text<'a>>,
        "related_session_id" => related_session_id: Option<Text<'a>>,
        "payload_json" => payload_json: Text<'a>,
        "occurred_at" => occurred_at: Option<Text<'a>>,
    }

    /// A file in a snapshot.
    "file_backups" => FileBackup<'a> {
        "event_id" => event_id: i64,
        "session_id" => session_id: Option<Text<'a>>,
        "message_uuid" => message_uuid: Option<Text<'a>>,
        "file_path" => file_path: Text<'a>,
        "backup_name" => backup_name: Option<Text<'a>>,
        "version" => version: Option<i64>,
        "backed_up_at" => backed_up_at: Option<Text<'a>>,
    }

    /// A line of history.jsonl.
    "history_prompts" => HistoryPrompt<'a> {
        "history_prompt_id" => history_prompt_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "session_id" => session_id: Option<Text<'a>>,
        "project_path" => project_path: Option<Text<'a>>,
        "display" => display: Option<Text<'a>>,
        "extra_json" => extra_json: Option<Text<'a>>,
        "prompted_at" => prompted_at: Option<Text<'a>>,
    }

    /// A thing pasted into a prompt.
    "pasted_contents" => PastedContent<'a> {
        "history_prompt_id" => history_prompt_id: i64,
        "paste_number" => paste_number: i64,
        "kind" => kind: Option<Text<'a>>,
        "cache_name" => cache_name: Option<Text<'a>>,
        "media_type" => media_type: Option<Text<'a>>,
        "content" => content: Option<Text<'a>>,
        "extra_json" => extra_json: Option<Text<'a>>,
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
    "api_responses" => ApiResponse<'a> {
        "api_response_id" => api_response_id: i64,
        "api_message_id" => api_message_id: Text<'a>,
        "message_id" => message_id: Option<i64>,
        "session_id" => session_id: Option<Text<'a>>,
        "agent_key" => agent_key: Option<i64>,
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

    /// A line that carried usage.
    "usage_lines" => UsageLine<'a> {
        "api_response_id" => api_response_id: i64,
        "message_id" => message_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "session_id" => session_id: Option<Text<'a>>,
        "agent_key" => agent_key: Option<i64>,
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

/// What the lines of one chunk come to.
#[derive(Debug, Default)]
pub struct Rows<'a> {
    /// Chain records, each with what belongs to it.
    pub messages: Vec<Box<MessageRows<'a>>>,
    /// Other records.
    pub events: Vec<EventRows<'a>>,
    /// Lines of `history.jsonl`.
    pub history_prompts: Vec<HistoryRows<'a>>,
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
pub struct MessageRows<'a> {
    /// The message.
    pub message: Message<'a>,
    /// Its agent, by its id in the session, and where that agent's lines stand.
    pub agent: Option<Agent<'a>>,
    /// Its blocks, in order.
    pub blocks: Vec<BlockRows<'a>>,
    /// The usage it carries.
    pub usage: Option<Usage<'a>>,
    /// What it tells of agents and the calls that spawned them.
    pub links: Vec<AgentLink>,
    /// The notifications it delivers.
    pub notifications: Vec<TaskNotification<'a>>,
}

/// A block with the tool call or result that it is. Most are neither, and what they are not takes no room.
#[derive(Debug, Default, Clone)]
pub struct BlockRows<'a> {
    /// The block.
    pub block: ContentBlock<'a>,
    /// The call.
    pub tool_use: Option<Box<ToolUse<'a>>>,
    /// The answer.
    pub tool_result: Option<Box<ToolResult<'a>>>,
    /// What the answer tells of git.
    pub git_operations: Vec<GitOperation<'a>>,
    /// What the answer tells of the web.
    pub web_request: Option<Box<WebRequest<'a>>>,
}

/// An agent as a record names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Agent<'a> {
    /// The session it serves.
    pub session_id: Text<'a>,
    /// Its id there.
    pub agent_id: Text<'a>,
    /// Where its lines stand.
    pub layout: &'static str,
    /// The run of the workflow it belongs to, by its folder.
    pub workflow_run_id: Option<Text<'a>>,
}

/// Usage of a response.
#[derive(Debug, Default, Clone)]
pub struct Usage<'a> {
    /// `message.id`, else the uuid.
    pub api_message_id: Text<'a>,
    /// The agent that is charged, when it is another than the message's: a progress record tells of it.
    pub agent: Option<Agent<'a>>,
    /// The numbers.
    pub line: UsageLine<'a>,
}

/// A record without a uuid, with what belongs to it.
#[derive(Debug, Default)]
pub struct EventRows<'a> {
    /// The event.
    pub event: Event<'a>,
    /// The files of a snapshot.
    pub file_backups: Vec<FileBackup<'a>>,
    /// What it tells of agents and the calls that spawned them.
    pub links: Vec<AgentLink>,
    /// The notifications that were queued.
    pub notifications: Vec<TaskNotification<'a>>,
}

/// A line of `history.jsonl`, with what was pasted.
#[derive(Debug, Default)]
pub struct HistoryRows<'a> {
    /// The prompt.
    pub prompt: HistoryPrompt<'a>,
    /// What was pasted.
    pub pasted_contents: Vec<PastedContent<'a>>,
}

impl Rows<'_> {
    /// The same, borrowing nothing.
    pub fn into_owned(self) -> Rows<'static> {
        Rows {
            messages: own(self.messages, |rows| Box::new(rows.into_owned())),
            events: own(self.events, EventRows::into_owned),
            history_prompts: own(self.history_prompts, HistoryRows::into_owned),
            documents: self.documents,
            rejected_lines: self.rejected_lines,
            unknown_kinds: self.unknown_kinds,
            newline_count: self.newline_count,
            blank_line_count: self.blank_line_count,
            has_tail: self.has_tail,
        }
    }
}

impl MessageRows<'_> {
    /// The same, borrowing nothing.
    pub fn into_owned(self) -> MessageRows<'static> {
        MessageRows {
            message: self.message.into_owned(),
            agent: self.agent.map(Agent::into_owned),
            blocks: own(self.blocks, BlockRows::into_owned),
            usage: self.usage.map(Usage::into_owned),
            links: self.links,
            notifications: own(self.notifications, TaskNotification::into_owned),
        }
    }
}

impl BlockRows<'_> {
    fn into_owned(self) -> BlockRows<'static> {
        BlockRows {
            block: self.block.into_owned(),
            tool_use: self.tool_use.map(|call| Box::new(call.into_owned())),
            tool_result: self.tool_result.map(|result| Box::new(result.into_owned())),
            git_operations: own(self.git_operations, GitOperation::into_owned),
            web_request: self
                .web_request
                .map(|request| Box::new(request.into_owned())),
        }
    }
}

impl Agent<'_> {
    /// The same, borrowing nothing.
    pub fn into_owned(self) -> Agent<'static> {
        Agent {
            session_id: Field::into_owned(self.session_id),
            agent_id: Field::into_owned(self.agent_id),
            layout: self.layout,
            workflow_run_id: self.workflow_run_id.into_owned(),
        }
    }
}

impl Usage<'_> {
    fn into_owned(self) -> Usage<'static> {
        Usage {
            api_message_id: Field::into_owned(self.api_message_id),
            agent: self.agent.map(Agent::into_owned),
            line: self.line.into_owned(),
        }
    }
}

impl EventRows<'_> {
    fn into_owned(self) -> EventRows<'static> {
        EventRows {
            event: self.event.into_owned(),
            file_backups: own(self.file_backups, FileBackup::into_owned),
            links: self.links,
            notifications: own(self.notifications, TaskNotification::into_owned),
        }
    }
}

impl HistoryRows<'_> {
    fn into_owned(self) -> HistoryRows<'static> {
        HistoryRows {
            prompt: self.prompt.into_owned(),
            pasted_contents: own(self.pasted_contents, PastedContent::into_owned),
        }
    }
}

fn own<T, O>(rows: Vec<T>, into_owned: impl FnMut(T) -> O) -> Vec<O> {
    rows.into_iter().map(into_owned).collect()
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

            /// The session that another file describes.
            pub fn described_session(&self) -> Option<&str> {
                match self {
                    Document::SessionHint(hint) => hint.session_id.as_deref(),
                    _ => None,
                }
            }

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

impl UsageLine<'_> {
    /// Says that it is the line of a message.
    pub fn of(&mut self, message: &Message<'_>) {
        self.message_id = message.message_id;
        self.file_id = message.file_id;
        self.line_number = message.line_number;
        self.byte_offset = message.byte_offset;
    }
}

impl<'a> TaskNotification<'a> {
    /// Says that a message delivers it.
    pub fn deliver(&mut self, message: &Message<'a>) {
        self.message_id = Some(message.message_id);
        self.file_id = message.file_id;
        self.byte_offset = message.byte_offset;
        self.session_id.clone_from(&message.session_id);
        self.notified_at.clone_from(&message.sent_at);
    }

    /// Says that an event queued it.
    pub fn queue(&mut self, event: &Event<'a>) {
        self.event_id = Some(event.event_id);
        self.file_id = event.file_id;
        self.byte_offset = event.byte_offset;
        self.session_id.clone_from(&event.session_id);
        self.notified_at.clone_from(&event.occurred_at);
    }
}
