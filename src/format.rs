//! Rows of a query as text: a table for people, CSV, JSON and Markdown for others.

use crate::terminal::{self, sanitize, sanitize_json};
use clap::ValueEnum;
use rusqlite::types::Value;
use serde_json::Value as Json;

/// The forms that rows can be printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: fits the terminal
    Table,
    /// For spreadsheets
    Csv,
    /// One list of objects
    Json,
    /// One object a line
    Jsonl,
    /// For documents
    Markdown,
}

/// What a query returned.
#[derive(Debug, Default)]
pub struct Answer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

impl Answer {
    /// The answer in a form. `is_raw` leaves CSV cells as they are, for programs.
    pub fn format(&self, format: Format, is_raw: bool) -> String {
        match format {
            Format::Table => terminal::table(&self.columns, &self.rows, terminal::width()),
            // Programs get the cells as they are; a terminal would act upon them.
            Format::Csv if terminal::is_used() => sanitize(&self.csv(is_raw)).into_owned(),
            Format::Csv => self.csv(is_raw),
            Format::Json if self.rows.is_empty() => "[]".to_string(),
            Format::Json => format!("[\n  {}\n]", self.objects(",\n  ")),
            Format::Jsonl => self.objects("\n"),
            Format::Markdown => self.markdown(),
        }
    }

    /// Keeps only these columns, in this order.
    pub fn keep(&mut self, names: &[&str]) {
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

    /// The rows as JSON objects, with the columns in their order.
    fn objects(&self, separator: &str) -> String {
        let object = |row: &Vec<Value>| {
            let entry = |(name, value): (&String, &Value)| {
                format!("{}:{}", Json::from(name.as_str()), json(value))
            };
            let entries: Vec<String> = self.columns.iter().zip(row).map(entry).collect();
            sanitize_json(&format!("{{{}}}", entries.join(","))).into_owned()
        };
        let objects: Vec<String> = self.rows.iter().map(object).collect();
        objects.join(separator)
    }

    fn csv(&self, is_raw: bool) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let cells = |row: &[Value]| -> Vec<String> {
            row.iter().map(|value| csv_cell(value, is_raw)).collect()
        };
        let names = self.columns.iter().map(|name| Value::Text(name.clone()));
        let names: Vec<Value> = names.collect();
        let wrote = writer.write_record(cells(&names)).and_then(|()| {
            self.rows
                .iter()
                .try_for_each(|row| writer.write_record(cells(row)))
        });
        wrote.expect("memory can be written to");
        let bytes = writer.into_inner().expect("memory can be written to");
        let text = String::from_utf8(bytes).expect("cells are text");
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

/// A value as text; nothing for NULL.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => hex(bytes),
    }
}

/// Bytes in hexadecimal digits.
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

/// A cell for a spreadsheet: a text that it would take for a formula gets a quote in front.
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

    fn answer() -> Answer {
        Answer {
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
            answer().format(Format::Csv, false),
            "name,n\n'=cmd(),-1\n\"a|b\nc\","
        );
        assert!(answer().format(Format::Csv, true).contains("\n=cmd(),"));
    }

    #[test]
    fn json_keeps_types() {
        assert_eq!(
            answer()
                .format(Format::Jsonl, false)
                .lines()
                .next()
                .unwrap(),
            r#"{"name":"=cmd()","n":-1}"#
        );
    }

    #[test]
    fn json_stays_json_and_says_what_it_said() {
        let said = "a\u{1b}[31m\u{9b}31m\u{7f}\u{202e}b";
        let answer = Answer {
            columns: vec!["\u{9b}name".into()],
            rows: vec![vec![Value::Text(said.into())]],
        };
        let printed = answer.format(Format::Json, false);
        assert!(!printed.chars().any(|c| c.is_control() && c != '\n'));
        let read: Json = serde_json::from_str(&printed).unwrap();
        assert_eq!(read[0]["\u{9b}name"], said);
    }

    #[test]
    fn markdown_cells_stay_in_their_cells() {
        assert_eq!(
            answer()
                .format(Format::Markdown, false)
                .lines()
                .last()
                .unwrap(),
            "| a\\|b c |  |"
        );
    }
}
