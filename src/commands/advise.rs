//! `cc-etl advise`: prints what could be saved. The findings, their order and their words are those of the question `advice`.

use super::query::ask_with;
use super::{database_path, page, print, warn};
use crate::cli::{Global, QuestionArguments};
use crate::column::Kind;
use crate::database;
use crate::error::Result;
use crate::format::{Format, QueryRows, text};
use crate::query::{self, Cancelled};
use crate::question;
use crate::table::wrap;
use crate::terminal::{Emphasis, counted, sanitize, shown_width};
use crate::time_zone::TimeZone;
use rusqlite::types::Value;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Findings without `--limit`.
const FINDINGS: usize = 10;

/// Lines of an example, such as a long command.
const EXAMPLE_LINES: usize = 3;

pub fn run(global: &Global, arguments: &QuestionArguments) -> Result<()> {
    let parameters = [
        ("since", arguments.since.as_deref()),
        ("until", arguments.until.as_deref()),
        ("project", arguments.project.as_deref()),
    ];
    let output = &arguments.output;
    if output.format() != Format::Table {
        return ask_with(global, "advice", &parameters, arguments.limit, output);
    }
    let path = database_path(global)?;
    let zone = TimeZone::read(&database::open_read_only(&path)?)?;
    let question = question::advice();
    let limit = arguments.limit.unwrap_or(FINDINGS);
    // One more, to know whether there is one.
    let read = limit.saturating_add(1).to_string();
    let given: Vec<(String, String)> = parameters
        .into_iter()
        .chain([("limit", Some(read.as_str()))])
        .filter_map(|(name, value)| Some((name.to_string(), value?.to_string())))
        .collect();
    let given = question.interpret(&given, &zone)?;
    let never = Cancelled::default();
    let (rows, has_more) =
        query::run_with_timeout(TIMEOUT, &path, &question.sql, &given, Some(limit), &never)?;
    if rows.rows.is_empty() {
        return match global.quiet {
            true => Ok(()),
            false => print("Nothing to advise: no waste was found."),
        };
    }
    let page_of = Page {
        emphasis: Emphasis::new(global.color),
        width: output.table_width().unwrap_or(usize::MAX),
        rows: &rows,
    };
    page(global, &page_of.text())?;
    if has_more {
        let shown = counted(limit as i64, "finding");
        warn(&format!(
            "only the first {shown} are shown; --limit N shows more"
        ));
    }
    Ok(())
}

struct Page<'r> {
    emphasis: Emphasis,
    width: usize,
    rows: &'r QueryRows,
}

impl Page<'_> {
    fn text(&self) -> String {
        let findings = (0..self.rows.rows.len()).map(|row| self.finding(row));
        findings.collect::<Vec<_>>().join("\n\n")
    }

    /// What is wasted and at what cost, the evidence, what to do, an example, and how to see more.
    fn finding(&self, row: usize) -> String {
        const INDENT: &str = "   ";
        let number = row + 1;
        let cost = self.cell(row, "cost_usd").map(|cost| format!("{cost} USD"));
        let title = format!(
            "{number}. {}",
            self.cell(row, "finding").unwrap_or_default()
        );
        let mut lines = vec![match cost {
            None => self.emphasis.bold(&title),
            Some(cost) => {
                let used = shown_width(&title) + shown_width(&cost);
                let gap = self.width.min(80).saturating_sub(used).max(2);
                format!("{}{}{cost}", self.emphasis.bold(&title), " ".repeat(gap))
            }
        }];
        let width = self.width.saturating_sub(INDENT.len());
        let mut add = |text: &str, limit: usize, style: &dyn Fn(&str) -> String| {
            let wrapped = wrap(text, width, limit).into_iter();
            lines.extend(wrapped.map(|line| format!("{INDENT}{}", style(&line))));
        };
        let plain = |line: &str| line.to_string();
        let faint = |line: &str| self.emphasis.faint(line);
        for name in ["evidence", "advice"] {
            if let Some(text) = self.cell(row, name) {
                add(&text, usize::MAX, &plain);
            }
        }
        if let Some(example) = self.cell(row, "example") {
            add(&format!("For example: {example}"), EXAMPLE_LINES, &faint);
        }
        if let (Some(session), Some(line)) =
            (self.cell(row, "session_id"), self.cell(row, "line_number"))
        {
            add(&format!("In session {session}, line {line}"), 1, &faint);
        }
        if let Some(question) = self.cell(row, "question") {
            let accent = |line: &str| self.emphasis.accent(line);
            add(&format!("cc-etl query {question}"), 1, &accent);
        }
        lines.join("\n")
    }

    /// A value as it is shown, on one line; none if it is NULL.
    fn cell(&self, row: usize, name: &str) -> Option<String> {
        let column = self.rows.columns.iter().position(|column| column == name)?;
        let cell = match &self.rows.rows[row][column] {
            Value::Null => return None,
            Value::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            value if name == "line_number" => text(value),
            value => Kind::of(name, std::iter::once(value)).cell(value),
        };
        Some(sanitize(&cell).into_owned())
    }
}
