//! Files that are read as a whole -> rows.

use super::extra::Extra;
use super::message::moment;
use crate::decode::Reason;
use crate::discover::{Kind, Place};
use crate::record::{Raw, json_count, json_list, object, parse_object};
use crate::rows::{
    AgentMeta, Document, MemoryNote, Paste, PastedContent, Plan, RejectedLine, Rows, SessionHint,
    Task, Todo, ToolResultFile, UsageStatistic, WorkflowRun,
};
use crate::timestamp;

/// The rows of a file. One that should be JSON and is not is rejected as a whole.
pub fn normalize_document(bytes: &[u8], path: &str, place: &Place) -> Rows<'static> {
    let mut rows = Rows::default();
    let text = std::str::from_utf8(bytes).ok();
    let documents = match place.kind {
        Kind::Paste => Some(vec![Document::Paste(Paste {
            cache_name: file_stem(path).to_string(),
            content: text.map(clean),
            ..Paste::default()
        })]),
        Kind::Plan => Some(vec![Document::Plan(Plan {
            slug: file_stem(path).to_string(),
            content: text.map(clean),
            ..Plan::default()
        })]),
        Kind::Memory => Some(vec![Document::MemoryNote(MemoryNote {
            name: path
                .split_once("/memory/")
                .map_or(path, |(_, name)| name)
                .to_string(),
            content: text.map(clean),
            ..MemoryNote::default()
        })]),
        Kind::ToolResult => Some(vec![Document::ToolResultFile(ToolResultFile {
            session_id: place.session_id.clone(),
            name: path
                .split_once("/tool-results/")
                .map_or(path, |(_, name)| name)
                .to_string(),
            content: text.map(clean),
            byte_length: bytes.len() as i64,
            ..ToolResultFile::default()
        })]),
        _ => text.and_then(|text| json_documents(text.trim_start_matches('\u{feff}'), path, place)),
    };
    match documents {
        Some(documents) => rows.documents = documents,
        None => rows.rejected_lines.push(RejectedLine {
            line_number: 1,
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

/// Text columns hold no NUL.
fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn json_documents(json: &str, path: &str, place: &Place) -> Option<Vec<Document>> {
    let json = &*crate::decode::repair_escapes(json);
    match place.kind {
        Kind::Todo => todos(json, place),
        Kind::Task => task(json, place).map(|task| vec![Document::Task(task)]),
        Kind::AgentMeta => agent_meta(json, place).map(|meta| vec![Document::AgentMeta(meta)]),
        Kind::Workflow => workflow_run(json, place).map(|run| vec![Document::WorkflowRun(run)]),
        Kind::Statistics => statistics(json),
        Kind::SessionIndex if path.ends_with("custom-title.json") => custom_title(json, place),
        Kind::SessionIndex => session_index(json),
        _ => Some(Vec::new()),
    }
}

object! {
    /// An item of a todo list.
    pub struct TodoItem {
        "content" => content: long_text,
        "status" => status: text,
        "priority" => priority: text,
        "activeForm" => active_form: long_text,
    }
}

fn todos(json: &str, place: &Place) -> Option<Vec<Document>> {
    let list = json_list(json).ok()?;
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
    /// A task.
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
    let mut extra = Extra::default();
    extra.push_rest(&task.rest);
    Some(Task {
        list_name: place.session_id.clone().unwrap_or_default(),
        task_id: task.id.map(Into::into),
        subject: task.subject.map(Into::into),
        description: task.description.map(Into::into),
        active_form: task.active_form.map(Into::into),
        status: task.status.map(Into::into),
        owner: task.owner.map(Into::into),
        blocks_json: task.blocks.map(|raw| raw.get().to_string()),
        blocked_by_json: task.blocked_by.map(|raw| raw.get().to_string()),
        extra_json: extra.finish(),
        ..Task::default()
    })
}

object! {
    /// `agent-<id>.meta.json`: since between 2.1.40 and 2.1.101.
    pub struct MetaFile {
        "agentType" => agent_type: text,
        "description" => description: long_text,
        "name" => name: text,
        "model" => model: text,
        /// Of the Agent tool only: not for teammates and workflow agents, and not in 2.1.101 to 2.1.112.
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
    let mut extra = Extra::default();
    extra.push_rest(&meta.rest);
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
        extra_json: extra.finish(),
        ..AgentMeta::default()
    })
}

object! {
    /// `wf_<run>.json`
    pub struct RunFile {
        "runId" => run_id: text,
        "taskId" => task_id: text,
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
    let mut extra = Extra::default();
    extra.push_rest(&run.rest);
    Some(WorkflowRun {
        session_id: place.session_id.clone().unwrap_or_default(),
        workflow_run_id: run.run_id.map(Into::into),
        task_id: run.task_id.map(Into::into),
        name: run.name.map(Into::into),
        status: run.status.map(Into::into),
        duration_ms: run.duration_ms,
        agent_count: run.agent_count,
        total_tokens: run.total_tokens,
        tool_call_count: run.tool_call_count,
        started_at: run.start_time.and_then(timestamp::from_milliseconds),
        extra_json: extra.finish(),
        ..WorkflowRun::default()
    })
}

object! {
    /// `sessions-index.json`: January to about March 2026.
    pub struct IndexFile {
        "originalPath" => original_path: text,
        "entries" => entries: raw,
    }
}

object! {
    /// An entry of it.
    pub struct IndexEntry {
        "sessionId" => session_id: id,
        "customTitle" => custom_title: long_text,
        "summary" => summary: long_text,
        "firstPrompt" => first_prompt: long_text,
        "projectPath" => project_path: text,
        "gitBranch" => git_branch: text,
        "messageCount" => message_count: count,
        "created" => created: raw,
        "modified" => modified: raw,
    }
}

fn session_index(json: &str) -> Option<Vec<Document>> {
    let index: IndexFile = parse_object(json).ok()?;
    let entries = index
        .entries
        .and_then(|raw| json_list(raw.get()).ok())
        .unwrap_or_default();
    let hints = entries.iter().enumerate().map(|(position, raw)| {
        let entry: IndexEntry = parse_object(raw.get()).unwrap_or_default();
        let mut extra = Extra::default();
        extra.push_rest(&entry.rest);
        let project_path = entry.project_path.or_else(|| index.original_path.clone());
        Document::SessionHint(SessionHint {
            position: position as i64,
            session_id: entry.session_id.map(Into::into),
            custom_title: entry.custom_title.map(Into::into),
            summary: entry.summary.map(Into::into),
            first_prompt: entry.first_prompt.map(Into::into),
            project_path: project_path.map(Into::into),
            git_branch: entry.git_branch.map(Into::into),
            message_count: entry.message_count,
            created_at: entry
                .created
                .and_then(|raw| moment(raw, "created", &mut extra))
                .map(Into::into),
            modified_at: entry
                .modified
                .and_then(|raw| moment(raw, "modified", &mut extra))
                .map(Into::into),
            extra_json: extra.finish(),
            ..SessionHint::default()
        })
    });
    Some(hints.collect())
}

/// `custom-title.json`: written by /rename from another program.
fn custom_title(json: &str, place: &Place) -> Option<Vec<Document>> {
    let entry: IndexEntry = parse_object(json).ok()?;
    Some(vec![Document::SessionHint(SessionHint {
        session_id: place.session_id.clone(),
        custom_title: entry.custom_title.map(Into::into),
        ..SessionHint::default()
    })])
}

object! {
    /// `stats-cache.json`
    pub struct Statistics {
        "dailyActivity" => daily_activity: raw,
        "dailyModelTokens" => daily_model_tokens: raw,
        "modelUsage" => model_usage: raw,
        "totalSessions" => total_sessions: count,
        "totalMessages" => total_messages: count,
    }
}

object! {
    /// An element of `dailyActivity` or `dailyModelTokens`.
    pub struct Day {
        "date" => date: text,
        "messageCount" => message_count: count,
        "sessionCount" => session_count: count,
        "toolCallCount" => tool_call_count: count,
        "tokensByModel" => tokens_by_model: raw,
    }
}

object! {
    /// A value of `modelUsage`.
    pub struct ModelUsage {
        "inputTokens" => input_tokens: count,
        "outputTokens" => output_tokens: count,
        "cacheReadInputTokens" => cache_read_tokens: count,
        "cacheCreationInputTokens" => cache_write_tokens: count,
        "webSearchRequests" => web_search_count: count,
        "costUSD" => cost_usd: cost,
    }
}

object! {
    /// A map from names to values.
    pub struct Named {}
}

fn statistics(json: &str) -> Option<Vec<Document>> {
    let statistics: Statistics = parse_object(json).ok()?;
    let list = |raw: Option<Raw<'_>>| -> Vec<String> {
        let list = raw
            .and_then(|raw| json_list(raw.get()).ok())
            .unwrap_or_default();
        list.iter().map(|raw| raw.get().to_string()).collect()
    };
    let mut rows = Vec::new();
    for raw in list(statistics.daily_activity) {
        let day: Day = parse_object(&raw).unwrap_or_default();
        let mut extra = Extra::default();
        extra.push_rest(&day.rest);
        rows.push(UsageStatistic {
            scope: "day",
            activity_date: day.date.map(Into::into).unwrap_or_default(),
            message_count: day.message_count,
            session_count: day.session_count,
            tool_call_count: day.tool_call_count,
            extra_json: extra.finish(),
            ..UsageStatistic::default()
        });
    }
    for raw in list(statistics.daily_model_tokens) {
        let day: Day = parse_object(&raw).unwrap_or_default();
        let models: Named = day
            .tokens_by_model
            .and_then(|raw| parse_object(raw.get()).ok())
            .unwrap_or_default();
        for (model, tokens) in &models.rest {
            let total_tokens = json_count(tokens.get());
            let mut extra = Extra::default();
            if total_tokens.is_none() {
                extra.push("tokens", tokens.get());
            }
            rows.push(UsageStatistic {
                scope: "day_and_model",
                activity_date: day.date.as_deref().unwrap_or_default().to_string(),
                model: model.to_string(),
                total_tokens,
                extra_json: extra.finish(),
                ..UsageStatistic::default()
            });
        }
    }
    let models: Named = statistics
        .model_usage
        .and_then(|raw| parse_object(raw.get()).ok())
        .unwrap_or_default();
    for (model, usage) in &models.rest {
        let usage: ModelUsage = parse_object(usage.get()).unwrap_or_default();
        let mut extra = Extra::default();
        extra.push_rest(&usage.rest);
        rows.push(UsageStatistic {
            scope: "model",
            model: model.to_string(),
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            web_search_count: usage.web_search_count,
            cost_usd: usage.cost_usd,
            extra_json: extra.finish(),
            ..UsageStatistic::default()
        });
    }
    let mut extra = Extra::default();
    extra.push_rest(&statistics.rest);
    rows.push(UsageStatistic {
        scope: "all",
        session_count: statistics.total_sessions,
        message_count: statistics.total_messages,
        extra_json: extra.finish(),
        ..UsageStatistic::default()
    });
    // A name that stands twice counts once: the later one.
    let mut seen = std::collections::HashSet::new();
    rows.reverse();
    rows.retain(|row| seen.insert((row.scope, row.activity_date.clone(), row.model.clone())));
    rows.reverse();
    Some(rows.into_iter().map(Document::UsageStatistic).collect())
}

/// What was pasted into a prompt of `history.jsonl`: `{"1": {"id": 1, "type": "text", "content": "..."}}`
pub fn pasted_contents(json: &str) -> Option<Vec<PastedContent<'_>>> {
    let named: Named = parse_object(json).ok()?;
    let mut rows = Vec::new();
    for (number, value) in &named.rest {
        let paste: PasteEntry = parse_object(value.raw()?.get()).ok()?;
        let mut extra = Extra::default();
        extra.push_rest(&paste.rest);
        rows.push(PastedContent {
            paste_number: number.parse().ok()?,
            kind: paste.kind,
            content: paste.content,
            cache_name: paste.content_hash,
            media_type: paste.media_type,
            extra_json: extra.finish().map(Into::into),
            ..PastedContent::default()
        });
    }
    rows.sort_by_key(|row| row.paste_number);
    rows.dedup_by_key(|row| row.paste_number);
    Some(rows)
}

object! {
    /// A value of `pastedContents`: a short text in place, a long one in paste-cache/, or an image without its bytes.
    pub struct PasteEntry {
        "type" => kind: text,
        "content" => content: long_text,
        "contentHash" => content_hash: text,
        "mediaType" => media_type: text,
    }
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
    fn a_file_that_is_no_json_is_rejected_as_a_whole() {
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

    #[test]
    fn pastes_are_in_place_in_the_cache_or_images() {
        let rows = pasted_contents(
            r#"{"2":{"id":2,"type":"text","contentHash":"a4834933d8c8586f"},"1":{"id":1,"type":"text","content":"x"},"3":{"id":3,"type":"image","mediaType":"image/png"}}"#,
        )
        .unwrap();
        assert_eq!(rows[0].content.as_deref(), Some("x"));
        assert_eq!(rows[1].cache_name.as_deref(), Some("a4834933d8c8586f"));
        assert_eq!(rows[2].media_type.as_deref(), Some("image/png"));
        assert!(pasted_contents("[]").is_none());
    }
}
