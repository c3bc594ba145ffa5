//! `cc-etl query`: runs a question that ships with the program, or SQL from the user.

use super::{database_path, print, warn};
use crate::cli::{Global, QueryArguments};
use crate::error::{Error, Result};
use crate::format::{Format, QueryRows};
use crate::query::{self, Question};
use crate::terminal::{self, bar, grouped, sanitize};
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
    let limit = match arguments.format {
        Format::Table => Some(arguments.rows.unwrap_or(TABLE_ROWS)),
        _ => arguments.rows,
    };
    let parameters = &arguments.parameters;
    let (mut rows, has_more) = query::run_with_timeout(timeout, &path, sql, parameters, limit)?;
    if arguments.format == Format::Table {
        if let Some(question) = question.as_ref().filter(|_| !global.quiet) {
            print(&format!("{}\n{}\n", question.title, question.how_to_read))?;
        }
        if let Some(column) = question.as_ref().and_then(|question| question.bar) {
            add_bar(&mut rows, column);
        }
    }
    print(&rows.format(arguments.format, arguments.csv_raw))?;
    if has_more {
        let shown = grouped(rows.rows.len() as i64);
        warn(&format!(
            "only the first {shown} rows are shown; --rows N shows more"
        ));
    }
    Ok(())
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
    let parameters: Vec<&str> = question.parameters.iter().map(|(name, _)| *name).collect();
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

/// Adds a column of bars, scaled to the greatest value.
fn add_bar(result: &mut QueryRows, column: &str) {
    let Some(place) = result.columns.iter().position(|name| name == column) else {
        return;
    };
    let number = |value: &Value| match value {
        Value::Integer(number) => *number as f64,
        Value::Real(number) => *number,
        _ => 0.0,
    };
    let greatest = result
        .rows
        .iter()
        .map(|row| number(&row[place]))
        .fold(0.0, f64::max);
    if greatest <= 0.0 {
        return;
    }
    result.columns.insert(place + 1, String::new());
    for row in &mut result.rows {
        let drawn = bar(number(&row[place]) / greatest, terminal::BAR_WIDTH);
        row.insert(place + 1, Value::Text(drawn));
    }
}
