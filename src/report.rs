//! The report: questions with their charts, on one page.

pub mod chart;

use crate::column::Kind;
use crate::format::QueryRows;
use crate::html::{self, escape};
use crate::question::Question;
use crate::time_zone::TimeZone;
use chart::Chart;
use rusqlite::types::Value;
use std::fmt::Write as _;

const STYLE: &str = include_str!("report/page.css");

/// The questions of the report, in its order. Those with a chart declare it in their header.
pub const QUESTIONS: &[&str] = &[
    "periods",
    "budget_report",
    "daily_model_costs",
    "activity_by_day",
    "activity_by_hour",
    "blocks",
    "expensive_sessions",
    "expensive_branches",
    "tool_report",
    "feedback_by_week",
    "cache_hit_rate",
    "cache_misses",
    "history_by_day",
];

/// A question with its rows.
pub struct Section {
    pub question: Question,
    pub rows: QueryRows,
}

/// The page. Its days and times are in this zone.
pub fn render(zone: &TimeZone, sections: &[Section]) -> String {
    let lead = format!(
        "Made on {}. Days and times are in {}; costs are list prices in US dollars.",
        zone.today(),
        zone.name
    );
    let mut body = format!(
        "<header><h1>Claude Code</h1>\n<p>{}</p></header>\n<nav>",
        escape(&lead)
    );
    for Section { question, .. } in sections {
        let _ = write!(
            body,
            "<a href=\"#{}\">{}</a> ",
            escape(&question.name),
            escape(&question.title)
        );
    }
    body += "</nav>\n<main>\n";
    for section in sections {
        body += &section.render(zone);
    }
    body += "</main>";
    html::page("Claude Code", STYLE, &body)
}

impl Section {
    fn render(&self, zone: &TimeZone) -> String {
        let question = &self.question;
        let mut part = format!(
            "<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"how\">{}</p>\n",
            escape(&question.name),
            escape(&question.title),
            html::prose(&question.how_to_read)
        );
        let chart = question.chart.as_deref().and_then(Chart::parse);
        let drawn = chart.and_then(|chart| chart.draw(&with_local_times(&self.rows, zone)));
        match (self.rows.rows.is_empty(), drawn) {
            (true, _) => part += "<p class=\"none\">Nothing in this period.</p>\n",
            (false, None) => part += &table(&self.rows, zone),
            (false, Some(drawn)) => {
                part += &drawn;
                part += &html::fold("rows", "Table", &table(&self.rows, zone));
            }
        }
        let sql = format!("<pre>{}</pre>", escape(question.sql.trim_end()));
        part += &html::fold("sql", "SQL", &sql);
        part + "</section>\n"
    }
}

/// The rows for a chart, which writes texts as they are.
fn with_local_times(rows: &QueryRows, zone: &TimeZone) -> QueryRows {
    let mut local = QueryRows {
        columns: rows.columns.clone(),
        rows: rows.rows.clone(),
    };
    for (place, name) in rows.columns.iter().enumerate() {
        if Kind::of(name, rows.rows.iter().map(|row| &row[place])) == Kind::Time {
            for row in &mut local.rows {
                row[place] = Value::Text(Kind::Time.local_cell(&row[place], Some(zone)));
            }
        }
    }
    local
}

fn table(rows: &QueryRows, zone: &TimeZone) -> String {
    let mut part = "<div class=\"table\"><table>\n<tr>".to_string();
    for column in &rows.columns {
        let _ = write!(part, "<th>{}</th>", escape(&column.replace('_', " ")));
    }
    part += "</tr>\n";
    let kinds: Vec<Kind> = (0..rows.columns.len())
        .map(|index| {
            Kind::of(
                &rows.columns[index],
                rows.rows.iter().map(move |row| &row[index]),
            )
        })
        .collect();
    for row in &rows.rows {
        part += "<tr>";
        for (value, kind) in row.iter().zip(&kinds) {
            let class = if kind.is_number() {
                " class=\"number\""
            } else {
                ""
            };
            let _ = write!(
                part,
                "<td{class}>{}</td>",
                escape(&kind.local_cell(value, Some(zone)))
            );
        }
        part += "</tr>\n";
    }
    part + "</table></div>\n"
}
