//! Files that are read as a whole.

use super::{Insert, Row};
use crate::error::Result;

tables! {
    /// A file of `paste-cache/`.
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

    "tasks" => Task {
        "file_id" => file_id: i64,
        "list_name" => list_name: String,
        "task_number" => task_number: Option<String>,
        "subject" => subject: Option<String>,
        "description" => description: Option<String>,
        "active_form" => active_form: Option<String>,
        "status" => status: Option<String>,
        "owner" => owner: Option<String>,
        "blocks_json" => blocks_json: Option<String>,
        "blocked_by_json" => blocked_by_json: Option<String>,
        "extra_json" => extra_json: Option<String>,
    }

    "plans" => Plan {
        "file_id" => file_id: i64,
        "slug" => slug: String,
        "content" => content: Option<String>,
    }

    /// A memory file of a project.
    "memory_notes" => MemoryNote {
        "file_id" => file_id: i64,
        "name" => name: String,
        "content" => content: Option<String>,
    }

    /// A tool output stored in a file of its own.
    "tool_result_files" => ToolResultFile {
        "file_id" => file_id: i64,
        "session_id" => session_id: Option<String>,
        "name" => name: String,
        "content" => content: Option<String>,
        "byte_length" => byte_length: i64,
    }

    /// `agent-<id>.meta.json`.
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

    /// `wf_<run>.json`.
    "workflow_runs" => WorkflowRun {
        "file_id" => file_id: i64,
        "session_id" => session_id: String,
        "workflow_id" => workflow_id: Option<String>,
        "background_task_id" => background_task_id: Option<String>,
        "name" => name: Option<String>,
        "status" => status: Option<String>,
        "extra_json" => extra_json: Option<String>,
        "duration_ms" => duration_ms: Option<i64>,
        "agent_count" => agent_count: Option<i64>,
        "total_tokens" => total_tokens: Option<i64>,
        "tool_call_count" => tool_call_count: Option<i64>,
        "started_at" => started_at: Option<String>,
    }

    /// An entry of `sessions-index.json`, or a `custom-title.json`.
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

    /// `usage-data/facets/<session>.json`.
    "session_facets" => SessionFacet {
        "file_id" => file_id: i64,
        "session_id" => session_id: String,
        "underlying_goal" => underlying_goal: Option<String>,
        "goal_categories_json" => goal_categories_json: Option<String>,
        "outcome" => outcome: Option<String>,
        "user_satisfaction_counts_json" => user_satisfaction_counts_json: Option<String>,
        "claude_helpfulness" => claude_helpfulness: Option<String>,
        "session_type" => session_type: Option<String>,
        "friction_counts_json" => friction_counts_json: Option<String>,
        "friction_detail" => friction_detail: Option<String>,
        "primary_success" => primary_success: Option<String>,
        "brief_summary" => brief_summary: Option<String>,
        "extra_json" => extra_json: Option<String>,
    }

    /// `usage-data/session-meta/<session>.json`.
    "session_metas" => SessionMeta {
        "file_id" => file_id: i64,
        "session_id" => session_id: String,
        "project_path" => project_path: Option<String>,
        "first_prompt" => first_prompt: Option<String>,
        "tool_counts_json" => tool_counts_json: Option<String>,
        "tool_error_categories_json" => tool_error_categories_json: Option<String>,
        "extra_json" => extra_json: Option<String>,
        "duration_minutes" => duration_minutes: Option<i64>,
        "user_message_count" => user_message_count: Option<i64>,
        "assistant_message_count" => assistant_message_count: Option<i64>,
        "interruption_count" => interruption_count: Option<i64>,
        "tool_error_count" => tool_error_count: Option<i64>,
        "git_commit_count" => git_commit_count: Option<i64>,
        "git_push_count" => git_push_count: Option<i64>,
        "changed_file_count" => changed_file_count: Option<i64>,
        "lines_added" => lines_added: Option<i64>,
        "lines_removed" => lines_removed: Option<i64>,
        "input_tokens" => input_tokens: Option<i64>,
        "output_tokens" => output_tokens: Option<i64>,
        "started_at" => started_at: Option<String>,
    }

    /// A figure of `stats-cache.json`.
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
}

macro_rules! documents {
    ($($name:ident),*) => {
        /// A row that comes from a file that is read as a whole.
        #[derive(Debug)]
        pub enum Document { $( $name($name) ),* }

        impl Document {
            pub const TABLES: &'static [&'static str] = &[$(<$name as Row>::TABLE),*];

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
    Paste, Todo, Task, Plan, MemoryNote, ToolResultFile, AgentMeta, WorkflowRun, SessionHint, UsageStatistic,
    SessionFacet, SessionMeta
}

impl Document {
    /// The session that the row references.
    pub fn session_id(&self) -> Option<&str> {
        match self {
            Document::SessionHint(hint) => hint.session_id.as_deref(),
            Document::Todo(todo) => todo.session_id.as_deref(),
            Document::ToolResultFile(file) => file.session_id.as_deref(),
            Document::AgentMeta(meta) => Some(&meta.session_id),
            Document::WorkflowRun(run) => Some(&run.session_id),
            Document::SessionFacet(facet) => Some(&facet.session_id),
            Document::SessionMeta(meta) => Some(&meta.session_id),
            Document::Paste(_)
            | Document::Task(_)
            | Document::Plan(_)
            | Document::MemoryNote(_)
            | Document::UsageStatistic(_) => None,
        }
    }

    /// Drops the content of a file that is too large for a column: only the archive keeps it.
    pub fn drop_content(&mut self, size: u64) {
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
