//! `cc-etl show`: prints a session as Markdown or JSON.

use super::{database_path, print};
use crate::cli::{Global, ShowArguments, ShowFormat};
use crate::database::{self, statements as sql};
use crate::error::{Error, Result};
use crate::format::{QueryRows, text};
use crate::query;
use crate::terminal::{sanitize, sanitize_json};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::{Value as Json, json};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::time::Duration;

pub fn run(global: &Global, arguments: &ShowArguments) -> Result<()> {
    let path = database_path(global)?;
    let connection = query::open(&path, Duration::from_secs(60))?;
    let session_id = match (&arguments.session, arguments.last) {
        (Some(prefix), _) => database::session_by_prefix(&connection, prefix)?,
        (None, true) => last_session(&connection)?,
        (None, false) => {
            return Err(Error::Usage(
                "give a session id or a prefix of it, or --last".to_string(),
            ));
        }
    };
    let session = Session::read(&connection, &session_id)?;
    match arguments.format {
        ShowFormat::Markdown => print(&sanitize(session.markdown().trim_end())),
        ShowFormat::Json => print(&sanitize_json(&session.json().to_string())),
    }
}

fn last_session(connection: &Connection) -> Result<String> {
    let (sessions, _) = query::run(connection, sql::LAST_SESSION, &[], None)?;
    match sessions.rows.first() {
        Some(row) => Ok(text(&row[0])),
        None => Err(Error::Usage(
            "the database has no session; cc-etl sync imports them".to_string(),
        )),
    }
}

struct Session {
    head: HashMap<String, Value>,
    /// By sub-agent; 0 is the session itself.
    messages: HashMap<i64, Vec<HashMap<String, Value>>>,
    /// By message.
    blocks: HashMap<i64, Vec<HashMap<String, Value>>>,
    /// By the tool call that spawned them.
    agents: HashMap<String, Vec<HashMap<String, Value>>>,
}

impl Session {
    fn read(connection: &Connection, session_id: &str) -> Result<Session> {
        let select = |statement: &str| -> Result<Vec<HashMap<String, Value>>> {
            let parameters = [("session".to_string(), session_id.to_string())];
            let (result, _) = query::run(connection, statement, &parameters, None)?;
            Ok(named(result))
        };
        let head = select(sql::SHOW_SESSION)?
            .into_iter()
            .next()
            .unwrap_or_default();
        let mut messages: HashMap<i64, Vec<_>> = HashMap::new();
        for message in select(sql::SHOW_MESSAGES)? {
            messages
                .entry(number(&message, "agent_run_id"))
                .or_default()
                .push(message);
        }
        let mut blocks: HashMap<i64, Vec<_>> = HashMap::new();
        for block in select(sql::SHOW_BLOCKS)? {
            blocks
                .entry(number(&block, "message_id"))
                .or_default()
                .push(block);
        }
        let mut agents: HashMap<String, Vec<_>> = HashMap::new();
        for agent in select(sql::SHOW_AGENTS)? {
            agents
                .entry(string(&agent, "spawned_by_tool_use_id"))
                .or_default()
                .push(agent);
        }
        Ok(Session {
            head,
            messages,
            blocks,
            agents,
        })
    }

    fn markdown(&self) -> String {
        let mut page = String::new();
        let title = string(&self.head, "title");
        let title = if title.is_empty() {
            string(&self.head, "first_prompt")
        } else {
            title
        };
        let _ = writeln!(page, "# {}\n", title.lines().next().unwrap_or("A session"));
        let _ = writeln!(
            page,
            "{} · {} · {} · {}\n",
            string(&self.head, "project"),
            string(&self.head, "git_branch"),
            day_and_time(&string(&self.head, "started_at")),
            string(&self.head, "session_id")
        );
        self.thread(&mut page, 0, &mut HashSet::new());
        page
    }

    /// Appends the messages of a sub-agent, or of the session itself.
    fn thread(&self, page: &mut String, agent_run_id: i64, seen: &mut HashSet<i64>) {
        // Sub-agents can form a cycle.
        if !seen.insert(agent_run_id) {
            return;
        }
        let mut speaker = String::new();
        for message in self.messages.get(&agent_run_id).into_iter().flatten() {
            let blocks = self.blocks.get(&number(message, "message_id"));
            let said = said_by(message);
            for block in blocks.into_iter().flatten() {
                let mut part = String::new();
                self.block(&mut part, message, block, seen);
                if part.trim().is_empty() {
                    continue;
                }
                if said != speaker {
                    speaker.clone_from(&said);
                    let _ = writeln!(
                        page,
                        "## {said} · {}\n",
                        day_and_time(&string(message, "sent_at"))
                    );
                }
                let _ = writeln!(page, "{}\n", part.trim_end());
            }
        }
    }

    fn block(
        &self,
        page: &mut String,
        message: &HashMap<String, Value>,
        block: &HashMap<String, Value>,
        seen: &mut HashSet<i64>,
    ) {
        match string(block, "type").as_str() {
            "thinking" => fold(page, "thinking", &string(block, "text")),
            "tool_use" => {
                let name = string(block, "name");
                let what = string(block, "what");
                let outcome = string(block, "outcome");
                let line = what.lines().next().unwrap_or_default();
                let ended = if outcome == "ok" {
                    String::new()
                } else {
                    format!(" ({})", outcome.replace('_', " "))
                };
                let body = format!(
                    "{}\n{}\n{}",
                    fence(&string(block, "input_json"), "json"),
                    string(block, "denial_reason"),
                    fence(&string(block, "result"), "")
                );
                fold(page, &format!("{name}: {line}{ended}"), &body);
                for agent in self
                    .agents
                    .get(&string(block, "tool_use_id"))
                    .into_iter()
                    .flatten()
                {
                    let mut inner = String::new();
                    self.thread(&mut inner, number(agent, "agent_run_id"), seen);
                    let kind = string(agent, "agent_type");
                    fold(
                        page,
                        &format!("agent {kind} {}", string(agent, "agent_id")),
                        &inner,
                    );
                }
            }
            "tool_result" => {}
            "image" | "document" => {
                let _ = writeln!(
                    page,
                    "[{} {}]",
                    string(block, "type"),
                    string(block, "media_type")
                );
            }
            _ if string(message, "prompt_kind") == "machine" => {
                fold(
                    page,
                    &string(message, "machine_kind").replace('_', " "),
                    &string(block, "text"),
                );
            }
            _ => {
                let _ = writeln!(page, "{}", string(block, "text"));
            }
        }
    }

    fn json(&self) -> Json {
        let mut session = object(&self.head);
        session["messages"] = self.thread_json(0, &mut HashSet::new());
        session
    }

    fn thread_json(&self, agent_run_id: i64, seen: &mut HashSet<i64>) -> Json {
        if !seen.insert(agent_run_id) {
            return json!([]);
        }
        let mut messages = Vec::new();
        for message in self.messages.get(&agent_run_id).into_iter().flatten() {
            let mut shown = object(message);
            let mut blocks = Vec::new();
            for block in self
                .blocks
                .get(&number(message, "message_id"))
                .into_iter()
                .flatten()
            {
                let mut part = object(block);
                let spawned: Vec<Json> = self
                    .agents
                    .get(&string(block, "tool_use_id"))
                    .into_iter()
                    .flatten()
                    .map(|agent| {
                        let mut inner = object(agent);
                        inner["messages"] = self.thread_json(number(agent, "agent_run_id"), seen);
                        inner
                    })
                    .collect();
                if !spawned.is_empty() {
                    part["agents"] = json!(spawned);
                }
                blocks.push(part);
            }
            shown["blocks"] = json!(blocks);
            messages.push(shown);
        }
        json!(messages)
    }
}

fn named(result: QueryRows) -> Vec<HashMap<String, Value>> {
    let columns = result.columns;
    let rows = result.rows.into_iter();
    rows.map(|row| columns.iter().cloned().zip(row).collect())
        .collect()
}

fn string(row: &HashMap<String, Value>, name: &str) -> String {
    row.get(name).map(text).unwrap_or_default()
}

fn number(row: &HashMap<String, Value>, name: &str) -> i64 {
    match row.get(name) {
        Some(Value::Integer(number)) => *number,
        _ => 0,
    }
}

/// The columns that are not NULL, sorted by name.
fn object(row: &HashMap<String, Value>) -> Json {
    let mut names: Vec<&String> = row.keys().collect();
    names.sort();
    let mut object = json!({});
    for name in names {
        match &row[name] {
            Value::Null => {}
            Value::Integer(number) => object[name] = json!(number),
            Value::Real(number) => object[name] = json!(number),
            other => object[name] = json!(text(other)),
        }
    }
    object
}

fn said_by(message: &HashMap<String, Value>) -> String {
    let model = string(message, "model");
    match (
        string(message, "type").as_str(),
        string(message, "prompt_kind").as_str(),
    ) {
        ("assistant", _) if !model.is_empty() => format!("Claude ({model})"),
        ("assistant", _) => "Claude".to_string(),
        (_, "human" | "slash_command" | "bash_command" | "memory_note" | "sdk_prompt") => {
            "You".to_string()
        }
        (_, "agent_prompt" | "agent_message") => "To the agent".to_string(),
        (_, "interrupt") => "You interrupted".to_string(),
        (_, "compact_summary") => "Summary of the conversation so far".to_string(),
        (_, "tool_result") => "You, with a tool result".to_string(),
        ("system", _) => "Claude Code".to_string(),
        (_, "machine") => "Claude Code".to_string(),
        (other, _) => other.to_string(),
    }
}

fn day_and_time(timestamp: &str) -> String {
    timestamp.get(..16).unwrap_or(timestamp).replace('T', " ")
}

fn fold(page: &mut String, summary: &str, body: &str) {
    if body.trim().is_empty() {
        return;
    }
    let summary = summary.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        page,
        "<details><summary>{summary}</summary>\n\n{}\n\n</details>",
        body.trim()
    );
}

/// A code block, with a fence longer than any inside.
fn fence(text: &str, language: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let mut marks = "```".to_string();
    while text.contains(&marks) {
        marks.push('`');
    }
    format!("{marks}{language}\n{}\n{marks}", text.trim_end())
}
