//! `cc-etl statusline`: one line for the status line of Claude Code.
//!
//! Claude Code starts it after each message with JSON on standard input, and shows nothing if it fails. So every part of the line is
//! optional, nothing waits for a lock, and a failure is only a message on standard error.

use super::{budget, database_path, print, warn};
use crate::cli::Global;
use crate::database::{self, statements as sql};
use crate::error::Result;
use crate::limits::{self, Sample};
use crate::terminal::{Emphasis, duration, money, sanitize};
use crate::timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value as Json;
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// Queries of the database are given up after this time.
const PATIENCE: Duration = Duration::from_millis(500);

pub fn run(global: &Global) -> Result<()> {
    let input = input();
    let samples = limits::samples(&input);
    let path = database_path(global)?;
    let connection = match path.exists() {
        true => known(open(&path)),
        false => None,
    };
    let emphasis = Emphasis::new(global.color);
    let mut parts = of_session(&input);
    if let Some(connection) = &connection {
        parts.extend(known(today(connection)));
        parts.extend(known(active_block(connection)).flatten());
    }
    parts.extend(context(&input));
    parts.extend(of_limits(&samples, emphasis));
    if let Some(connection) = &connection {
        let over = known(budget::of_state(connection, Some("over")));
        let over = over.into_iter().flatten();
        parts.extend(over.map(|budget| emphasis.bad(&sanitize(&format!("over {budget}")))));
    }
    if parts.is_empty() {
        parts.push("cc-etl has no history yet: run cc-etl sync".to_string());
    }
    let printed = print(&parts.join(" | "));
    // The demo is not of this account.
    if !global.demo {
        known(limits::record(&path, connection.as_ref(), &samples));
    }
    printed
}

/// The JSON on standard input; null if there is none.
fn input() -> Json {
    const LARGEST: u64 = 16 << 20;
    let stdin = std::io::stdin();
    let mut bytes = Vec::new();
    if stdin.is_terminal() || stdin.take(LARGEST).read_to_end(&mut bytes).is_err() {
        return Json::Null;
    }
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// What is known in spite of errors, which are printed.
fn known<T>(result: Result<T>) -> Option<T> {
    result.map_err(|error| warn(&error.to_string())).ok()
}

fn open(path: &Path) -> Result<Connection> {
    let mut connection = database::open_without_waiting(path)?;
    let begun = Instant::now();
    connection.progress_handler(10_000, Some(move || begun.elapsed() > PATIENCE))?;
    Ok(connection)
}

/// The model, and what the session has cost.
fn of_session(input: &Json) -> Vec<String> {
    let mut parts = Vec::new();
    let model = &input["model"];
    let names = [&model["display_name"], &model["id"]].into_iter();
    let mut names = names.filter_map(Json::as_str).map(str::trim);
    let model = names.find(|name| !name.is_empty());
    parts.extend(model.map(|model| sanitize(&model.replace('\n', " ")).into_owned()));
    let cost = input["cost"]["total_cost_usd"].as_f64();
    parts.extend(cost.map(|cost| format!("${} session", money(cost))));
    parts
}

/// The cost of today, by the last sync.
fn today(connection: &Connection) -> Result<String> {
    let cost: f64 = connection.query_row(sql::COST_OF_TODAY, [], |row| row.get(0))?;
    Ok(format!("${} today", money(cost)))
}

/// The active block: its cost, the time to its end, and the burn rate.
fn active_block(connection: &Connection) -> Result<Option<String>> {
    let block = connection.query_row(sql::ACTIVE_BLOCK, [], |row| {
        let cost: Option<f64> = row.get("cost_usd")?;
        let rate: Option<f64> = row.get("hourly_cost_usd")?;
        let level: Option<String> = row.get("burn_level")?;
        let minutes: f64 = row.get("remaining_minutes")?;
        let mut part = match cost {
            Some(cost) => format!("${} block, ", money(cost)),
            None => "block, ".to_string(),
        };
        part += &format!("{} left", duration(minutes * 60_000.0));
        if let Some(rate) = rate {
            part += &format!(", ${}/h", money(rate));
        }
        if let Some(level) = level.filter(|level| level != "normal") {
            part += &format!(" ({level})");
        }
        Ok(part)
    });
    Ok(block.optional()?)
}

/// How much of the context window is used.
fn context(input: &Json) -> Option<String> {
    let window = &input["context_window"];
    let used = || {
        let usage = window["current_usage"].as_object()?;
        let tokens = [
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
        ];
        let tokens = tokens.iter().filter_map(|name| usage.get(*name)?.as_f64());
        let size = window["context_window_size"]
            .as_f64()
            .filter(|size| *size > 0.0)?;
        Some(tokens.sum::<f64>() / size * 100.0)
    };
    let percentage = window["used_percentage"].as_f64().or_else(used)?;
    Some(format!("context {percentage:.0}%"))
}

/// The limits of the account, the first one with the time until it is reset.
fn of_limits(samples: &[Sample], emphasis: Emphasis) -> Option<String> {
    const NEAR: f64 = 90.0;
    let limits = [("five_hour", "5 h"), ("seven_day", "7 d")];
    let limit = |(name, shown): (&str, &str)| {
        let sample = samples.iter().find(|sample| sample.limit_name == name)?;
        let mut part = format!("{shown} {:.0}%", sample.used_percentage);
        if name == "five_hour"
            && let Some(left) = milliseconds_to(&sample.resets_at)
        {
            part += &format!(" (resets in {})", duration(left));
        }
        Some(match sample.used_percentage >= NEAR {
            true => emphasis.bad(&part),
            false => part,
        })
    };
    let shown: Vec<String> = limits.into_iter().filter_map(limit).collect();
    (!shown.is_empty()).then(|| format!("limits {}", shown.join(", ")))
}

/// The time until a moment; none if it is over.
fn milliseconds_to(moment: &str) -> Option<f64> {
    let now = timestamp::to_milliseconds(&timestamp::now())?;
    let left = timestamp::to_milliseconds(moment)? - now;
    (left > 0).then_some(left as f64)
}
