//! Files that are read as a whole -> documents.

use super::extra::Extra;
use super::session_index::{custom_title, session_index};
use super::statistics::statistics;
use super::usage_data::{session_facet, session_meta};
use crate::decode::{Reason, invalid_utf8};
use crate::discover::{Kind, Place};
use crate::json::{self, parse_object};
use crate::record::object;
use crate::rows::{
    AgentMeta, Document, MemoryNote, Paste, Plan, RejectedLine, Rows, Task, Todo, ToolResultFile,
    WorkflowRun,
};
use crate::timestamp;

/// The rows of a file. A JSON file that cannot be parsed is rejected as a whole. Bytes that are not UTF-8 are U+FFFD in JSON.
pub fn normalize_document(bytes: &[u8], path: &str, place: &Place) -> Rows<'static> {
    let mut rows = Rows::default();
    let text = std::str::from_utf8(bytes).ok();
    let documents = match place.kind {
        Kind::Paste => Some(vec![Document::Paste(Paste {
            cache_name: file_stem(path).to_string(),
            content: text.map(replace_nul),
            ..Paste::default()
        })]),
        Kind::Plan => Some(vec![Document::Plan(Plan {
            slug: file_stem(path).to_string(),
            content: text.map(replace_nul),
            ..Plan::default()
        })]),
        Kind::Memory => Some(vec![Document::MemoryNote(MemoryNote {
            name: path
                .split_once("/memory/")
                .map_or(path, |(_, name)| name)
                .to_string(),
            content: text.map(replace_nul),
            ..MemoryNote::default()
        })]),
        Kind::ToolResult => Some(vec![Document::ToolResultFile(ToolResultFile {
            session_id: place.session_id.clone(),
            name: path
                .split_once("/tool-results/")
                .map_or(path, |(_, name)| name)
                .to_string(),
            content: text.map(replace_nul),
            byte_length: bytes.len() as i64,
            ..ToolResultFile::default()
        })]),
        _ => {
            let json = String::from_utf8_lossy(bytes);
            let documents = json_documents(json.trim_start_matches('\u{feff}'), path, place);
            if let Some(invalid) = invalid_utf8(bytes).filter(|_| documents.is_some()) {
                rows.rejected_lines.push(RejectedLine {
                    line_number: 0,
                    byte_offset: invalid.start as i64,
                    reason: Reason::InvalidUtf8.name(),
                    raw: bytes[invalid].to_vec(),
                    ..RejectedLine::default()
                });
            }
            documents
        }
    };
    match documents {
        Some(documents) => rows.documents = documents,
        None => rows.rejected_lines.push(RejectedLine {
            line_number: 0,
            reason: match text {
                Some(_) => Reason::NotJson.name(),
                None => Reason::InvalidUtf8.name(),
            },
            raw: bytes.to_vec(),
            ..RejectedLine::default()
        }),
    }
    rows
}

/// Text columns cannot hold NUL.
fn replace_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn json_documents(json: &str, path: &str, place: &Place) -> Option<Vec<Document>> {
    let json = &*json::repair_escapes(json);
    match place.kind {
        Kind::Todo => todos(json, place),
        Kind::Task => task(json, place).map(|task| vec![Document::Task(task)]),
        Kind::AgentMeta => agent_meta(json, place).map(|meta| vec![Document::AgentMeta(meta)]),
        Kind::Workflow => workflow_run(json, place).map(|run| vec![Document::WorkflowRun(run)]),
        Kind::Statistics => statistics(json),
        Kind::SessionFacet => session_facet(json, place),
        Kind::SessionMeta => session_meta(json, place),
        Kind::SessionIndex if path.ends_with("custom-title.json") => custom_title(json, place),
        Kind::SessionIndex => session_index(json),
        _ => Some(Vec::new()),
    }
}

object! {
    pub struct TodoItem {
        "content" => content: long_text,
        "status" => status: text,
        "priority" => priority: text,
        "activeForm" => active_form: long_text,
    }
}

fn todos(json: &str, place: &Place) -> Option<Vec<Document>> {
    let list = json::list(json).ok()?;
    let items = list.iter().enumerate().map(|(position, raw)| {
        let mut extra = Extra::default();
        let item: TodoItem = parse_object(raw.get()).unwrap_or_else(|_| {
            extra.push("value", raw.get());
            TodoItem::default()
        });
        extra.push_rest(&item.rest);
        Document::Todo(Todo {
            session_id: place.session_id.clone(),
            agent_id: place.agent_id.clone(),
            position: position as i64,
            content: item.content.map(Into::into),
            status: item.status.map(Into::into),
            priority: item.priority.map(Into::into),
            active_form: item.active_form.map(Into::into),
            extra_json: extra.finish(),
            ..Todo::default()
        })
    });
    Some(items.collect())
}

object! {
    pub struct TaskFile {
        "id" => id: text,
        "subject" => subject: long_text,
        "description" => description: long_text,
        "activeForm" => active_form: long_text,
        "status" => status: text,
        "owner" => owner: text,
        "blocks" => blocks: raw,
        "blockedBy" => blocked_by: raw,
    }
}

fn task(json: &str, place: &Place) -> Option<Task> {
    let task: TaskFile = parse_object(json).ok()?;
    Some(Task {
        list_name: place.session_id.clone().unwrap_or_default(),
        task_number: task.id.map(Into::into),
        subject: task.subject.map(Into::into),
        description: task.description.map(Into::into),
        active_form: task.active_form.map(Into::into),
        status: task.status.map(Into::into),
        owner: task.owner.map(Into::into),
        blocks_json: task.blocks.map(|raw| raw.get().to_string()),
        blocked_by_json: task.blocked_by.map(|raw| raw.get().to_string()),
        extra_json: Extra::from(&task.rest).finish(),
        ..Task::default()
    })
}

object! {
    /// `agent-<id>.meta.json`: since a version between 2.1.40 and 2.1.101.
    pub struct MetaFile {
        "agentType" => agent_type: text,
        "description" => description: long_text,
        "name" => name: text,
        "model" => model: text,
        /// Only for the Agent tool, not for teammates and workflow agents, and not in 2.1.101 to 2.1.112.
        "toolUseId" => tool_use_id: text,
        "parentAgentId" => parent_agent_id: id,
        "worktreePath" => worktree_path: text,
        "worktreeBranch" => worktree_branch: text,
        "workflowPhase" => workflow_phase: text,
        "spawnDepth" => spawn_depth: count,
        "isFork" => is_fork: flag,
        "stoppedByUser" => is_stopped_by_user: flag,
    }
}

fn agent_meta(json: &str, place: &Place) -> Option<AgentMeta> {
    let meta: MetaFile = parse_object(json).ok()?;
    Some(AgentMeta {
        session_id: place.session_id.clone().unwrap_or_default(),
        agent_id: place.agent_id.clone().unwrap_or_default(),
        agent_type: meta.agent_type.map(Into::into),
        description: meta.description.map(Into::into),
        name: meta.name.map(Into::into),
        model: meta.model.map(Into::into),
        tool_use_id: meta.tool_use_id.map(Into::into),
        parent_agent_id: meta.parent_agent_id.map(Into::into),
        worktree_path: meta.worktree_path.map(Into::into),
        worktree_branch: meta.worktree_branch.map(Into::into),
        workflow_phase: meta.workflow_phase.map(Into::into),
        spawn_depth: meta.spawn_depth,
        is_fork: meta.is_fork,
        is_stopped_by_user: meta.is_stopped_by_user,
        extra_json: Extra::from(&meta.rest).finish(),
        ..AgentMeta::default()
    })
}

object! {
    /// `wf_<run>.json`
    pub struct RunFile {
        "runId" => run_id: text,
        "taskId" => background_task_id: text,
        "workflowName" => name: text,
        "status" => status: text,
        "startTime" => start_time: milliseconds,
        "durationMs" => duration_ms: count,
        "agentCount" => agent_count: count,
        "totalTokens" => total_tokens: count,
        "totalToolCalls" => tool_call_count: count,
    }
}

fn workflow_run(json: &str, place: &Place) -> Option<WorkflowRun> {
    let run: RunFile = parse_object(json).ok()?;
    Some(WorkflowRun {
        session_id: place.session_id.clone().unwrap_or_default(),
        workflow_id: run.run_id.map(Into::into),
        background_task_id: run.background_task_id.map(Into::into),
        name: run.name.map(Into::into),
        status: run.status.map(Into::into),
        duration_ms: run.duration_ms,
        agent_count: run.agent_count,
        total_tokens: run.total_tokens,
        tool_call_count: run.tool_call_count,
        started_at: run.start_time.and_then(timestamp::from_milliseconds),
        extra_json: Extra::from(&run.rest).finish(),
        ..WorkflowRun::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::classify;

    fn documents(path: &str, content: &str) -> Vec<Document> {
        normalize_document(content.as_bytes(), path, &classify(path)).documents
    }

    #[test]
    fn a_todo_list_has_a_row_per_item() {
        let list = documents(
            "todos/s.json",
            r#"[{"content":"a","status":"pending","id":"1"},"odd"]"#,
        );
        let Document::Todo(first) = &list[0] else {
            panic!()
        };
        assert_eq!(
            (first.content.as_deref(), first.extra_json.as_deref()),
            (Some("a"), Some(r#"{"id":"1"}"#))
        );
        assert_eq!(list.len(), 2);
    }

    #[test]
    fn invalid_json_is_rejected_as_a_whole() {
        let rows = normalize_document(b"{\"a\":", "tasks/l/1.json", &classify("tasks/l/1.json"));
        assert_eq!(rows.rejected_lines[0].raw, b"{\"a\":");
        assert!(rows.documents.is_empty());
    }

    #[test]
    fn statistics_are_rows_by_day_and_model() {
        let json = r#"{"dailyActivity":[{"date":"2026-01-01","messageCount":3}],"dailyModelTokens":[{"date":"2026-01-01","tokensByModel":{"m":9}}],"modelUsage":{"m":{"inputTokens":1,"costUSD":0.5,"contextWindow":7}},"totalSessions":2}"#;
        let rows = documents("stats-cache.json", json);
        assert_eq!(rows.len(), 4);
        let Document::UsageStatistic(model) = &rows[2] else {
            panic!()
        };
        assert_eq!((model.input_tokens, model.cost_usd), (Some(1), Some(0.5)));
    }
}
