//! `cc-etl query`: runs a question that ships with the program, or SQL from the user.

use super::{database_path, page, print, warn};
use crate::cli::{Global, QueryArguments};
use crate::database;
use crate::error::{Error, Result};
use crate::format::{Format, QueryRows};
use crate::query::{self, Question};
use crate::table::{self, wrap};
use crate::terminal::{Emphasis, grouped, sanitize};
use crate::time_zone::TimeZone;
use rusqlite::types::Value;
use std::time::Duration;

pub fn run(global: &Global, arguments: &QueryArguments) -> Result<()> {
    let question = match (&arguments.name, &arguments.sql) {
        (None, None) => return list(),
        (Some(name), _) => Some(query::find(name).ok_or_else(|| unknown(name))?),
        (None, Some(_)) => None,
    };
    let sql = match (&question, &arguments.sql) {
        (Some(question), _) => question.sql,
        (None, sql) => sql.as_deref().unwrap_or_default(),
    };
    let timeout = Duration::from_secs(arguments.timeout);
    let path = database_path(global)?;
    let format = arguments.output.format();
    let limit = match format {
        Format::Table => Some(arguments.rows.unwrap_or(TABLE_ROWS)),
        _ => arguments.rows,
    };
    let zone = TimeZone::read(&database::open_read_only(&path)?)?;
    let parameters = match &question {
        Some(question) => question.interpret(&arguments.parameters, &zone)?,
        None => arguments.parameters.clone(),
    };
    let (rows, has_more) = query::run_with_timeout(timeout, &path, sql, &parameters, limit)?;
    match format {
        Format::Table => page(
            global,
            &table(global, arguments, question.as_ref(), &rows, &zone),
        )?,
        Format::Jsonl if rows.rows.is_empty() => {}
        _ => page(global, &rows.format(format, arguments.csv_raw))?,
    }
    if has_more {
        let shown = grouped(rows.rows.len() as i64);
        warn(&format!(
            "only the first {shown} rows are shown; --rows N shows more"
        ));
    }
    Ok(())
}

/// The table, below what the question is and how to read it.
fn table(
    global: &Global,
    arguments: &QueryArguments,
    question: Option<&Question>,
    rows: &QueryRows,
    zone: &TimeZone,
) -> String {
    let options = table::Options {
        width: arguments.output.table_width(),
        emphasis: Emphasis::new(global.color),
        measured: question.and_then(|question| question.bar),
        zone: Some(zone),
        ..table::Options::default()
    };
    let mut lines = Vec::new();
    if let Some(question) = question.filter(|_| !global.quiet) {
        let wrapped = |text| wrap(text, options.width.unwrap_or(usize::MAX), usize::MAX);
        let title = wrapped(question.title);
        let how_to_read = wrapped(question.how_to_read);
        lines.extend(title.iter().map(|line| options.emphasis.bold(line)));
        lines.extend(how_to_read.iter().map(|line| options.emphasis.faint(line)));
        lines.push(String::new());
    }
    lines.push(table::draw(rows, &options));
    lines.join("\n")
}

/// Default limit for tables.
const TABLE_ROWS: usize = 1000;

fn list() -> Result<()> {
    let questions = query::questions();
    let list = QueryRows {
        columns: ["question", "title", "parameters"]
            .map(str::to_string)
            .to_vec(),
        rows: questions.iter().map(row).collect(),
    };
    print(&list.format(Format::Table, true))?;
    print(
        "\nRun one: cc-etl query QUESTION --param name=value\nRun SQL: cc-etl query --sql 'select ...'",
    )
}

fn row(question: &Question) -> Vec<Value> {
    let parameters: Vec<&str> = (question.parameters.iter())
        .map(|parameter| parameter.name)
        .collect();
    [
        question.name.to_string(),
        question.title.to_string(),
        parameters.join(", "),
    ]
    .map(Value::Text)
    .to_vec()
}

/// The error for an unknown question suggests similar names.
fn unknown(name: &str) -> Error {
    let similar: Vec<&str> = query::questions()
        .iter()
        .map(|question| question.name)
        .filter(|other| other.contains(name) || other.split('_').any(|word| name.contains(word)))
        .collect();
    let name = sanitize(name);
    Error::Usage(match similar.is_empty() {
        true => format!("unknown question {name}; cc-etl query lists them"),
        false => format!(
            "unknown question {name}; did you mean {}?",
            similar.join(", ")
        ),
    })
}
