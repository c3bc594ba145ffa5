//! `cc-etl mcp`: offers the database to Claude Code and other MCP clients, for reading only.

mod install;

use super::{database_path, search};
use crate::cli::{Global, McpArguments, McpCommand, SearchArguments};
use crate::database::{self, VIEWS};
use crate::error::Result;
use crate::format::{Format, QueryRows};
use crate::mcp::{self, Tools};
use crate::query::{self, Cancelled};
use crate::question;
use crate::schema_page;
use crate::session::{Detail, Session, markdown};
use crate::time_zone::TimeZone;
use rusqlite::Connection;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

pub fn run(global: &Global, arguments: &McpArguments) -> Result<()> {
    match &arguments.command {
        None => mcp::serve(History {
            path: database_path(global)?,
        }),
        Some(McpCommand::Install(edit)) => install::install(global, edit),
        Some(McpCommand::Remove(edit)) => install::remove(global, edit),
        Some(McpCommand::Status) => install::status(),
    }
}

/// The longest result, in characters: about 10,000 tokens. What is longer is cut, with a note.
const RESULT_LENGTH: usize = 40_000;

/// Rows of a result without a limit of its own.
const ROWS: usize = 100;

const TIMEOUT: Duration = Duration::from_secs(20);

struct History {
    path: PathBuf,
}

impl Tools for History {
    fn instructions(&self) -> String {
        "The history of Claude Code on this machine in a SQLite database: sessions, prompts, responses, tool calls and their \
         results, file changes, tokens and cost. Find past work with `search`, read it with `show`. For numbers, see whether one \
         of `questions` fits and `ask` it; else look at `schema` and `query` the views, which have the figures ready. Times are \
         UTC; columns that end with _date are local days. Everything is read-only."
            .to_string()
    }

    fn list(&self) -> Vec<Json> {
        let text = |description: &str| json!({"type": "string", "description": description});
        let number = |description: &str| json!({"type": "integer", "minimum": 1, "description": description});
        let tool = |name: &str, description: &str, properties: Json, required: &[&str]| {
            json!({
                "name": name,
                "description": description,
                "inputSchema": {
                    "type": "object",
                    "properties": properties,
                    "required": required,
                    "additionalProperties": false,
                },
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            })
        };
        vec![
            tool(
                "search",
                "Full-text search over prompts, responses, thinking, commands and more. Returns matches with their session.",
                json!({
                    "words": text("words, or an FTS5 expression such as \"exact phrase\" OR prefix*"),
                    "project": text("name of a project or a part of it"),
                    "since": text("first local day, such as 2026-09-01"),
                    "until": text("last local day"),
                    "limit": number("matches to return; 20 without it"),
                }),
                &["words"],
            ),
            tool(
                "show",
                "A session as Markdown: what was said, and with tools what was done.",
                json!({
                    "session": text("session id, its first characters, or words of its title"),
                    "tools": {"type": "boolean", "description": "whether to include tool calls, their results and sub-agents"},
                    "offset": {"type": "integer", "minimum": 0, "description": "character to begin at, to read on"},
                }),
                &["session"],
            ),
            tool(
                "questions",
                "The questions that can be asked: cost, tokens, tools, feedback, files and more, with their parameters.",
                json!({}),
                &[],
            ),
            tool(
                "ask",
                "The rows of one of the questions, one JSON object per line.",
                json!({
                    "question": text("name of a question"),
                    "parameters": {"type": "object", "description": "values by the names of parameters", "additionalProperties": true},
                    "limit": number("rows to return; 100 without it"),
                }),
                &["question"],
            ),
            tool(
                "schema",
                "The tables and views with what one row is; with a name, the columns of one.",
                json!({"name": text("a table or view")}),
                &[],
            ),
            tool(
                "query",
                "Runs one SELECT statement of SQLite; one JSON object per line.",
                json!({
                    "sql": text("the statement"),
                    "limit": number("rows to return; 100 without it"),
                }),
                &["sql"],
            ),
        ]
    }

    fn call(
        &self,
        name: &str,
        arguments: &Map<String, Json>,
        cancelled: &Cancelled,
    ) -> Option<std::result::Result<String, String>> {
        let call = Call {
            path: &self.path,
            arguments,
            cancelled,
        };
        let result = match name {
            "search" => call.search(),
            "show" => call.show(),
            "questions" => Ok(questions()),
            "ask" => call.ask(),
            "schema" => call.schema(),
            "query" => call.query(),
            _ => return None,
        };
        Some(result)
    }
}

/// A result for the model: text, or an error that says what to do instead.
type Answer = std::result::Result<String, String>;

struct Call<'c> {
    path: &'c PathBuf,
    arguments: &'c Map<String, Json>,
    cancelled: &'c Cancelled,
}

impl Call<'_> {
    fn search(&self) -> Answer {
        let arguments = SearchArguments {
            words: vec![self.required("words")?],
            project: self.text("project"),
            since: self.text("since"),
            until: self.text("until"),
            limit: self.number("limit")?.unwrap_or(20),
            ..SearchArguments::default()
        };
        let connection = self.open()?;
        let zone = TimeZone::read(&connection).map_err(said)?;
        let mut found = search::find(&connection, &zone, &arguments).map_err(said)?;
        found.select(&[
            "said_at",
            "project",
            "kind",
            "tool",
            "excerpt",
            "session_id",
        ]);
        match found.rows.is_empty() {
            true => {
                Ok("No match. Try fewer or other words, or prefix* for beginnings.".to_string())
            }
            // The marks around matches are for terminals.
            false => Ok(shown(&found, false).replace(['\u{e000}', '\u{e001}'], "")),
        }
    }

    fn show(&self) -> Answer {
        let connection = self.open()?;
        let words = self.required("session")?;
        let session_id = database::find_session(&connection, &words).map_err(said)?;
        let tools = self.arguments.get("tools").and_then(Json::as_bool);
        let detail = Detail {
            thinking: false,
            tools: tools.unwrap_or(false),
            turn_costs: false,
        };
        let session = Session::read(&connection, &session_id, detail).map_err(said)?;
        let page = markdown::render(&session);
        let offset = self.number("offset")?.unwrap_or(0);
        Ok(part(&page, offset))
    }

    fn ask(&self) -> Answer {
        let name = self.required("question")?;
        let known = question::builtin();
        let question = known
            .iter()
            .find(|question| question.name == name)
            .ok_or_else(|| format!("there is no question {name}; the tool questions lists them"))?;
        let given = self.arguments.get("parameters").and_then(Json::as_object);
        let given = given.into_iter().flatten().map(|(name, value)| {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_string);
            (name.clone(), value)
        });
        let given: Vec<(String, String)> = given.collect();
        if let Some((unknown, _)) = given.iter().find(|(name, _)| !question.has(name)) {
            return Err(format!(
                "{name} has no parameter {unknown}; the tool questions lists them"
            ));
        }
        let zone = TimeZone::read(&self.open()?).map_err(said)?;
        let parameters = question.interpret(&given, &zone).map_err(said)?;
        self.rows(&question.sql, &parameters)
    }

    fn query(&self) -> Answer {
        self.rows(&self.required("sql")?, &[])
    }

    fn rows(&self, sql: &str, parameters: &[(String, String)]) -> Answer {
        let limit = self.number("limit")?.unwrap_or(ROWS);
        let (rows, has_more) = query::run_with_timeout(
            TIMEOUT,
            self.path,
            sql,
            parameters,
            Some(limit),
            self.cancelled,
        )
        .map_err(said)?;
        Ok(shown(&rows, has_more))
    }

    fn schema(&self) -> Answer {
        match self.text("name") {
            None => Ok(overview()),
            Some(name) => describe(&name).ok_or_else(|| {
                format!("there is no table or view {name}; schema without a name lists them")
            }),
        }
    }

    fn open(&self) -> std::result::Result<Connection, String> {
        query::open_cancellable(self.path, TIMEOUT, self.cancelled).map_err(said)
    }

    fn text(&self, name: &str) -> Option<String> {
        let value = self.arguments.get(name)?.as_str()?;
        Some(value.to_string())
    }

    fn required(&self, name: &str) -> Answer {
        let missing = || format!("the argument {name} is missing: give it as text");
        self.text(name).ok_or_else(missing)
    }

    fn number(&self, name: &str) -> std::result::Result<Option<usize>, String> {
        match self.arguments.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => match value.as_u64().and_then(|value| usize::try_from(value).ok()) {
                Some(value) => Ok(Some(value)),
                None => Err(format!("the argument {name} is a whole number")),
            },
        }
    }
}

fn said(error: crate::error::Error) -> String {
    error.to_string()
}

/// Rows, as many as fit.
fn shown(rows: &QueryRows, has_more: bool) -> String {
    if rows.rows.is_empty() {
        return "No rows.".to_string();
    }
    let lines = rows.format(Format::Jsonl, true);
    let mut text = String::new();
    let mut count = 0;
    for line in lines.lines() {
        if count > 0 && text.len() + line.len() > RESULT_LENGTH {
            break;
        }
        let _ = writeln!(text, "{}", cut(line));
        count += 1;
    }
    if count < rows.rows.len() || has_more {
        let _ = write!(
            text,
            "Only {count} rows are shown: ask for fewer columns or rows, or aggregate."
        );
    }
    text
}

/// A line that is too long by itself.
fn cut(line: &str) -> String {
    match line.char_indices().nth(RESULT_LENGTH) {
        None => line.to_string(),
        Some((end, _)) => format!("{}… (cut)", &line[..end]),
    }
}

/// Part of a page from a character on, and how to read on.
fn part(page: &str, offset: usize) -> String {
    let length = page.chars().count();
    let text: String = page.chars().skip(offset).take(RESULT_LENGTH).collect();
    match offset + RESULT_LENGTH < length {
        true => format!(
            "{text}\n\n(cut: {length} characters; read on with offset {})",
            offset + RESULT_LENGTH
        ),
        false => text,
    }
}

fn questions() -> String {
    let mut list = String::new();
    for question in question::builtin() {
        let _ = writeln!(
            list,
            "{}: {}. {}",
            question.name, question.title, question.how_to_read
        );
        for question::Parameter { name, meaning, .. } in &question.parameters {
            let _ = writeln!(list, "    {name}: {meaning}");
        }
    }
    list
}

/// The tables and views that people query, each with its grain.
fn overview() -> String {
    let mut list = "Views:\n".to_string();
    for (name, grain) in schema_page::views()
        .iter()
        .filter(|(name, _)| is_public(name))
    {
        let _ = writeln!(list, "{name}: {grain}");
    }
    list += "\nTables:\n";
    for table in schema_page::tables()
        .iter()
        .filter(|table| is_public(&table.name))
    {
        let _ = writeln!(list, "{}: one row per {}", table.name, table.grain);
    }
    list
}

fn is_public(name: &str) -> bool {
    !name.starts_with('_')
}

fn describe(name: &str) -> Option<String> {
    if let Some((_, sql)) = VIEWS.iter().find(|(view, _)| *view == name) {
        return Some(sql.to_string());
    }
    let tables = schema_page::tables();
    let table = tables.iter().find(|table| table.name == name)?;
    let mut text = format!("{}: {}\n", table.name, table.grain);
    for column in &table.columns {
        let _ = write!(text, "{} {}", column.name, column.kind);
        if let Some(references) = &column.references {
            let _ = write!(text, " references {references}");
        }
        if !column.comment.is_empty() {
            let _ = write!(text, " -- {}", column.comment);
        }
        text.push('\n');
    }
    Some(text)
}
