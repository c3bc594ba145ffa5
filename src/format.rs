//! Formats the rows of a query: as a table for people, as CSV, JSON or Markdown for programs.

use crate::table;
use crate::terminal::{self, sanitize, sanitize_json};
use clap::ValueEnum;
use rusqlite::types::Value;
use serde_json::Value as Json;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Fits the terminal
    #[default]
    Table,
    /// Comma-separated, with a header
    Csv,
    /// One array of objects
    Json,
    /// One object per line
    Jsonl,
    /// A Markdown table
    Markdown,
}

/// The columns and rows that a query returned.
#[derive(Debug, Default)]
pub struct QueryRows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

impl QueryRows {
    /// `is_raw` leaves CSV cells unquoted that a spreadsheet would run as a formula.
    pub fn format(&self, format: Format, is_raw: bool) -> String {
        match format {
            Format::Table => table::draw(self, &table::Options::default()),
            // A terminal would interpret escape sequences; programs get the cells unchanged.
            Format::Csv if terminal::is_used() => sanitize(&self.csv(is_raw)).into_owned(),
            Format::Csv => self.csv(is_raw),
            Format::Json if self.rows.is_empty() => "[]".to_string(),
            Format::Json => format!("[\n  {}\n]", self.objects(",\n  ")),
            Format::Jsonl => self.objects("\n"),
            Format::Markdown => self.markdown(),
        }
    }

    /// Keeps only these columns, in this order.
    pub fn select(&mut self, names: &[&str]) {
        let places: Vec<usize> = names
            .iter()
            .filter_map(|name| self.columns.iter().position(|column| column == name))
            .collect();
        self.columns = places
            .iter()
            .map(|place| self.columns[*place].clone())
            .collect();
        for row in &mut self.rows {
            *row = places.iter().map(|place| row[*place].clone()).collect();
        }
    }

    fn objects(&self, separator: &str) -> String {
        let objects = self.rows.iter().map(|row| json_object(&self.columns, row));
        objects.collect::<Vec<_>>().join(separator)
    }

    fn csv(&self, is_raw: bool) -> String {
        let mut text = csv_header(&self.columns, is_raw);
        for row in &self.rows {
            text += &csv_line(row, is_raw);
        }
        text.trim_end_matches('\n').to_string()
    }

    fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let escape_text = |text: &str| sanitize(text).replace('|', "\\|").replace('\n', " ");
        let columns = self.columns.iter().map(|name| escape_text(name));
        let mut lines = vec![line(columns.collect())];
        let is_number = |column: usize| {
            self.rows
                .iter()
                .all(|row| !matches!(row[column], Value::Text(_) | Value::Blob(_)))
        };
        let rules = (0..self.columns.len())
            .map(|column| if is_number(column) { "---:" } else { "---" }.to_string());
        lines.push(line(rules.collect()));
        for row in &self.rows {
            let cells = row.iter().map(|value| escape_text(&text(value)));
            lines.push(line(cells.collect()));
        }
        lines.join("\n")
    }
}

/// A row as a JSON object. A `serde_json` map would sort the columns.
pub fn json_object(columns: &[String], row: &[Value]) -> String {
    let entry =
        |(name, value): (&String, &Value)| format!("{}:{}", Json::from(name.as_str()), json(value));
    let entries: Vec<String> = columns.iter().zip(row).map(entry).collect();
    sanitize_json(&format!("{{{}}}", entries.join(","))).into_owned()
}

/// The names of columns as a line of CSV.
pub fn csv_header(columns: &[String], is_raw: bool) -> String {
    let names: Vec<Value> = columns.iter().cloned().map(Value::Text).collect();
    csv_line(&names, is_raw)
}

/// A row as CSV, with the end of its line.
pub fn csv_line(row: &[Value], is_raw: bool) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let cells = row.iter().map(|value| csv_cell(value, is_raw));
    writer
        .write_record(cells)
        .expect("memory can be written to");
    let bytes = writer.into_inner().expect("memory can be written to");
    String::from_utf8(bytes).expect("cells are text")
}

/// Converts a value to text; NULL is the empty string.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => hex(bytes),
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(number) => Json::from(*number),
        // JSON has no infinity.
        Value::Real(number) => {
            serde_json::Number::from_f64(*number).map_or(Json::Null, Json::Number)
        }
        Value::Text(text) => Json::from(text.as_str()),
        Value::Blob(bytes) => Json::from(hex(bytes)),
    }
}

/// Prefixes a cell with a quote if a spreadsheet would run it as a formula.
fn csv_cell(value: &Value, is_raw: bool) -> String {
    match value {
        Value::Text(text)
            if !is_raw
                && text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']) =>
        {
            format!("'{text}")
        }
        other => text(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> QueryRows {
        QueryRows {
            columns: vec!["name".into(), "n".into()],
            rows: vec![
                vec![Value::Text("=cmd()".into()), Value::Integer(-1)],
                vec![Value::Text("a|b\nc".into()), Value::Null],
            ],
        }
    }

    #[test]
    fn a_cell_that_a_spreadsheet_would_run_is_quoted() {
        assert_eq!(
            sample().format(Format::Csv, false),
            "name,n\n'=cmd(),-1\n\"a|b\nc\","
        );
        assert!(sample().format(Format::Csv, true).contains("\n=cmd(),"));
    }

    #[test]
    fn json_keeps_types() {
        assert_eq!(
            sample()
                .format(Format::Jsonl, false)
                .lines()
                .next()
                .unwrap(),
            r#"{"name":"=cmd()","n":-1}"#
        );
    }

    #[test]
    fn json_escapes_controls_and_keeps_its_value() {
        let said = "a\u{1b}[31m\u{9b}31m\u{7f}\u{202e}b";
        let rows = QueryRows {
            columns: vec!["\u{9b}name".into()],
            rows: vec![vec![Value::Text(said.into())]],
        };
        let printed = rows.format(Format::Json, false);
        assert!(!printed.chars().any(|c| c.is_control() && c != '\n'));
        let read: Json = serde_json::from_str(&printed).unwrap();
        assert_eq!(read[0]["\u{9b}name"], said);
    }

    #[test]
    fn markdown_cells_are_escaped() {
        assert_eq!(
            sample()
                .format(Format::Markdown, false)
                .lines()
                .last()
                .unwrap(),
            "| a\\|b c |  |"
        );
    }
}
