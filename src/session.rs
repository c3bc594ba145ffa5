//! A session as a tree to read: messages, their blocks, and the sub-agents that the blocks called. One renderer per format.

pub mod html;
pub mod markdown;
mod prose;
pub mod terminal;

use crate::column::Kind;
use crate::database::statements as sql;
use crate::error::Result;
use crate::format::{self, QueryRows};
use crate::line_diff::LineDiff;
use crate::query;
use crate::terminal::{duration, grouped, money};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// A row of a statement, by column.
#[derive(Debug, Default)]
pub struct Row(HashMap<String, Value>);

pub struct Session {
    pub facts: Row,
    pub changed_files: Vec<Row>,
    pub messages: Vec<Message>,
    /// Sub-agents whose call is not in the session.
    pub agents: Vec<Agent>,
}

pub struct Message {
    pub row: Row,
    /// Of a prompt that begins a turn: what the turn cost.
    pub turn_cost_usd: Option<f64>,
    pub blocks: Vec<Block>,
}

pub struct Block {
    pub row: Row,
    /// The sub-agents that this tool call spawned.
    pub agents: Vec<Agent>,
}

pub struct Agent {
    pub row: Row,
    pub messages: Vec<Message>,
}

/// What to read.
#[derive(Debug, Clone, Copy)]
pub struct Detail {
    pub thinking: bool,
    pub tools: bool,
    /// The cost of each turn, which takes longer to find than all else.
    pub turn_costs: bool,
}

/// What a block is to a reader.
pub enum Part<'a> {
    Prompt(&'a str),
    Response(&'a str),
    Thinking(&'a str),
    Call(&'a Block),
    /// Written by Claude Code itself, of this kind.
    Machine(String, &'a str),
    /// An image or a document, of this media type.
    Attachment(&'a str, &'a str),
}

impl Session {
    pub fn read(connection: &Connection, session_id: &str, detail: Detail) -> Result<Session> {
        let select = |statement: &str| -> Result<Vec<Row>> {
            let parameters = [("session".to_string(), session_id.to_string())];
            let (result, _) = query::run(connection, statement, &parameters, None)?;
            Ok(rows(result))
        };
        let turns = match detail.turn_costs {
            true => select(sql::SHOW_TURN_COSTS)?,
            false => Vec::new(),
        };
        let turn_costs = turns
            .iter()
            .filter_map(|turn| Some((turn.number("message_id"), turn.amount("cost_usd")?)));
        let mut threads = Threads {
            turn_costs: turn_costs.collect(),
            messages: by_key(select(sql::SHOW_MESSAGES)?, |row| {
                row.number("agent_run_id")
            }),
            blocks: by_key(select(sql::SHOW_BLOCKS)?, |row| row.number("message_id")),
            agents: HashMap::new(),
            detail,
        };
        let mut in_order = Vec::new();
        for agent in select(sql::SHOW_AGENTS)? {
            in_order.push(agent.number("agent_run_id"));
            let call = agent.text("spawned_by_tool_use_id").to_string();
            threads.agents.entry(call).or_default().push(agent);
        }
        let messages = threads.thread(0);
        // Keeps the order in which they began.
        let mut left: HashMap<i64, Row> = std::mem::take(&mut threads.agents)
            .into_values()
            .flatten()
            .map(|agent| (agent.number("agent_run_id"), agent))
            .collect();
        let mut agents = Vec::new();
        if detail.tools {
            for key in in_order {
                if let Some(row) = left.remove(&key) {
                    let messages = threads.thread(key);
                    agents.push(Agent { row, messages });
                }
            }
        }
        agents.retain(|agent| !agent.messages.is_empty());
        Ok(Session {
            facts: select(sql::SHOW_SESSION)?
                .into_iter()
                .next()
                .unwrap_or_default(),
            changed_files: select(sql::SHOW_CHANGED_FILES)?,
            messages,
            agents,
        })
    }

    /// Its title, else its first prompt, on one line.
    pub fn title(&self) -> &str {
        [self.facts.text("title"), self.facts.text("first_prompt")]
            .into_iter()
            .find_map(|text| text.lines().find(|line| !line.trim().is_empty()))
            .unwrap_or("A session")
    }

    /// What the session was, cost and did, in a few lines.
    pub fn summary(&self) -> Vec<String> {
        let facts = &self.facts;
        let counted = |name: &str, one: &str, many: &str| match facts.number(name) {
            0 => String::new(),
            1 => format!("1 {one}"),
            count => format!("{} {many}", grouped(count)),
        };
        let failed = match facts.number("tool_error_count") {
            0 => String::new(),
            count => format!(" ({} failed)", grouped(count)),
        };
        let tokens: i64 = ["input", "output", "cache_write", "cache_read"]
            .iter()
            .map(|kind| facts.number(&format!("{kind}_tokens")))
            .sum();
        let mut lines = vec![
            vec![
                facts.text("project").to_string(),
                facts.text("git_branch").to_string(),
                session_start(facts),
                duration(1000.0 * facts.number("duration_s") as f64),
            ],
            vec![
                facts.amount("cost_usd").map_or_else(
                    || "cost unknown".to_string(),
                    |amount| format!("${}", money(amount)),
                ),
                format!("{} tokens", grouped(tokens)),
                Kind::Models.cell(&Value::Text(facts.text("models").to_string())),
            ],
            vec![
                counted("prompt_count", "prompt", "prompts"),
                counted("tool_call_count", "tool call", "tool calls") + &failed,
                counted("agent_count", "sub-agent", "sub-agents"),
            ],
        ];
        lines.push(self.changed_file_names());
        let joined = lines.into_iter().map(|mut parts| {
            parts.retain(|part| !part.is_empty());
            parts.join(" · ")
        });
        joined.filter(|line| !line.is_empty()).collect()
    }

    /// The files that changed most, with their lines.
    fn changed_file_names(&self) -> Vec<String> {
        const NAMED: usize = 5;
        let named = self.changed_files.iter().take(NAMED).map(|file| {
            let name = file.text("file_path").rsplit(['/', '\\']).next();
            let (added, removed) = (file.number("lines_added"), file.number("lines_removed"));
            format!("{} +{added} -{removed}", name.unwrap_or_default())
        });
        let mut names: Vec<String> = named.collect();
        match self.changed_files.len().saturating_sub(NAMED) {
            0 => {}
            1 => names.push("1 more file".to_string()),
            count => names.push(format!("{count} more files")),
        }
        names
    }

    pub fn json(&self) -> Json {
        let mut session = self.facts.json();
        session["changed_files"] = self.changed_files.iter().map(Row::json).collect();
        session["messages"] = self.messages.iter().map(Message::json).collect();
        session["agents"] = self.agents.iter().map(Agent::json).collect();
        session
    }
}

/// The rows of a session that have not found their place in the tree yet.
struct Threads {
    /// By sub-agent; 0 is the session itself.
    messages: HashMap<i64, Vec<Row>>,
    /// By message.
    blocks: HashMap<i64, Vec<Row>>,
    /// By the tool call that spawned them.
    agents: HashMap<String, Vec<Row>>,
    /// By the prompt that begins the turn.
    turn_costs: HashMap<i64, f64>,
    detail: Detail,
}

impl Threads {
    /// Takes the messages of a sub-agent, or of the session itself. Sub-agents can form a cycle: what was taken is gone.
    fn thread(&mut self, agent_run_id: i64) -> Vec<Message> {
        let mut messages = Vec::new();
        for row in self.messages.remove(&agent_run_id).unwrap_or_default() {
            let blocks = self
                .blocks
                .remove(&row.number("message_id"))
                .unwrap_or_default();
            let mut message = Message {
                turn_cost_usd: self.turn_costs.remove(&row.number("message_id")),
                row,
                blocks: Vec::new(),
            };
            for row in blocks {
                let agents = Vec::new();
                let mut block = Block { row, agents };
                let is_shown = match message.part(&block) {
                    Some(Part::Thinking(_)) => self.detail.thinking,
                    Some(Part::Call(_)) => self.detail.tools,
                    Some(_) => true,
                    None => false,
                };
                if is_shown {
                    block.agents = self.agents_of(&block.row);
                    message.blocks.push(block);
                }
            }
            if !message.blocks.is_empty() {
                messages.push(message);
            }
        }
        messages
    }

    fn agents_of(&mut self, call: &Row) -> Vec<Agent> {
        let call = call.text("tool_use_id");
        if call.is_empty() {
            return Vec::new();
        }
        let agents = self.agents.remove(call).unwrap_or_default().into_iter();
        agents
            .map(|row| Agent {
                messages: self.thread(row.number("agent_run_id")),
                row,
            })
            .collect()
    }
}

impl Message {
    /// None for a block without anything to read, and for a result, which is shown with its call.
    pub fn part<'a>(&'a self, block: &'a Block) -> Option<Part<'a>> {
        let text = block.row.text("text");
        let part = match block.row.text("type") {
            "tool_use" => return Some(Part::Call(block)),
            "tool_result" => return None,
            kind @ ("image" | "document") => {
                return Some(Part::Attachment(kind, block.row.text("media_type")));
            }
            "thinking" => Part::Thinking(text),
            _ => match (self.row.text("type"), self.row.text("prompt_kind")) {
                ("assistant", _) => Part::Response(text),
                (_, "machine") => {
                    Part::Machine(self.row.text("machine_kind").replace('_', " "), text)
                }
                ("system", _) => Part::Machine(self.row.text("subtype").replace('_', " "), text),
                _ => Part::Prompt(text),
            },
        };
        Some(part).filter(|_| !text.trim().is_empty())
    }

    pub fn speaker(&self) -> String {
        let model = self.row.text("model");
        match (self.row.text("type"), self.row.text("prompt_kind")) {
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

    fn json(&self) -> Json {
        let mut message = self.row.json();
        message["blocks"] = self.blocks.iter().map(Block::json).collect();
        message
    }
}

impl Block {
    /// A tool call on one line: the tool and what it was called with.
    pub fn call(&self) -> String {
        let what = self.row.text("what");
        let what = what.lines().find(|line| !line.trim().is_empty());
        format!(
            "{}: {}",
            self.row.text("name"),
            what.unwrap_or_default().trim()
        )
        .trim_end_matches(": ")
        .to_string()
    }

    /// How a call ended, unless it just succeeded.
    pub fn ending(&self) -> Option<String> {
        match self.row.text("outcome") {
            "" | "ok" => None,
            outcome => Some(outcome.replace('_', " ")),
        }
    }

    pub fn has_failed(&self) -> bool {
        matches!(self.row.text("outcome_group"), "error" | "denied")
    }

    /// The change that a call made to a file: lines after '+', '-' or ' ', and '@' between hunks. From the patch of its
    /// result, else from its input.
    pub fn changed_lines(&self) -> Vec<(char, String)> {
        let patch: Json = serde_json::from_str(self.row.text("patch_json")).unwrap_or_default();
        let lines = patched_lines(&patch);
        if !lines.is_empty() {
            return lines;
        }
        if self.row.text("change_kind").is_empty() {
            return Vec::new();
        }
        let input: Json = serde_json::from_str(self.row.text("input_json")).unwrap_or_default();
        let edits = match &input["edits"] {
            Json::Array(edits) => edits.as_slice(),
            _ => std::slice::from_ref(&input),
        };
        let text = |edit: &Json, names: [&str; 3]| {
            let text = names.iter().find_map(|name| edit[*name].as_str());
            text.unwrap_or_default().to_string()
        };
        let mut lines = Vec::new();
        for edit in edits {
            if !lines.is_empty() {
                lines.push(('@', String::new()));
            }
            let old = text(edit, ["old_string", "old_str", "old_source"]);
            let new = text(edit, ["new_string", "content", "new_source"]);
            let diff = LineDiff::new(&old, &new);
            let changed = diff.lines();
            lines.extend(
                changed.map(|(mark, line)| (mark, line.trim_end_matches('\n').to_string())),
            );
        }
        lines
    }

    fn json(&self) -> Json {
        let mut block = self.row.json();
        if !self.agents.is_empty() {
            block["agents"] = self.agents.iter().map(Agent::json).collect();
        }
        block
    }
}

/// The lines of a structuredPatch.
fn patched_lines(patch: &Json) -> Vec<(char, String)> {
    let mut lines = Vec::new();
    for hunk in patch.as_array().into_iter().flatten() {
        let number = |name: &str| hunk[name].as_i64().unwrap_or_default();
        let ranges = format!(
            "-{},{} +{},{}",
            number("oldStart"),
            number("oldLines"),
            number("newStart"),
            number("newLines")
        );
        lines.push(('@', ranges));
        for line in hunk["lines"].as_array().into_iter().flatten() {
            let mut characters = line.as_str().unwrap_or_default().chars();
            match characters.next() {
                Some(mark @ ('+' | '-' | ' ')) => lines.push((mark, characters.collect())),
                // "\ No newline at end of file"
                _ => continue,
            }
        }
    }
    lines
}

impl Agent {
    /// Its type and description.
    pub fn name(&self) -> String {
        let parts = ["agent_type", "description"].map(|name| self.row.text(name));
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [] => self.row.text("agent_id").to_string(),
            parts => parts.join(": "),
        }
    }

    fn json(&self) -> Json {
        let mut agent = self.row.json();
        agent["messages"] = self.messages.iter().map(Message::json).collect();
        agent
    }
}

impl Row {
    /// NULL and a missing column are the empty string.
    pub fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// NULL and a missing column are 0.
    pub fn number(&self, name: &str) -> i64 {
        match self.0.get(name) {
            Some(Value::Integer(number)) => *number,
            _ => 0,
        }
    }

    pub fn amount(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(Value::Real(amount)) => Some(*amount),
            Some(Value::Integer(amount)) => Some(*amount as f64),
            _ => None,
        }
    }

    /// The columns that are not NULL.
    fn json(&self) -> Json {
        let mut object = json!({});
        for (name, value) in &self.0 {
            match value {
                Value::Null => {}
                Value::Integer(number) => object[name] = json!(number),
                Value::Real(number) => object[name] = json!(number),
                other => object[name] = json!(format::text(other)),
            }
        }
        object
    }
}

fn rows(result: QueryRows) -> Vec<Row> {
    let columns = result.columns;
    let rows = result.rows.into_iter();
    rows.map(|row| Row(columns.iter().cloned().zip(row).collect()))
        .collect()
}

fn by_key(rows: Vec<Row>, key: impl Fn(&Row) -> i64) -> HashMap<i64, Vec<Row>> {
    let mut groups: HashMap<i64, Vec<Row>> = HashMap::new();
    for row in rows {
        groups.entry(key(&row)).or_default().push(row);
    }
    groups
}

/// The local time at which a session began, with its time zone; all times of the session are in it.
fn session_start(facts: &Row) -> String {
    match facts.text("started_at_local") {
        "" => String::new(),
        local => format!("{local} {}", facts.text("time_zone")),
    }
}
