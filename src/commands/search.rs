//! `cc-etl search`: full-text search over everything that was said.

use super::{database_path, page, page_rows, print};
use crate::cli::{Global, SearchArguments};
use crate::database::statements as sql;
use crate::dates;
use crate::error::{Error, Result};
use crate::format::{Format, QueryRows, text};
use crate::query;
use crate::table::{age, wrap};
use crate::terminal::{self, Emphasis, sanitize};
use crate::time_zone::TimeZone;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::time::Duration;

pub fn run(global: &Global, arguments: &SearchArguments) -> Result<()> {
    let connection = query::open(&database_path(global)?, Duration::from_secs(30))?;
    let zone = TimeZone::read(&connection)?;
    let mut found = find(&connection, &zone, arguments)?;
    add_commands(&mut found, global);
    let format = arguments.format();
    if format != Format::Table {
        return page_rows(global, &found, format, false);
    }
    if found.rows.is_empty() {
        return print(&format!(
            "no match for {}",
            sanitize(&arguments.words.join(" "))
        ));
    }
    let emphasis = Emphasis::new(global.color);
    let width = terminal::size().map_or(usize::MAX, |(width, _)| width.saturating_sub(2).max(1));
    let mut lines = Vec::new();
    for (place, row) in found.rows.iter().enumerate() {
        let cell = |name: &str| sanitize(&text(&row[column(&found, name)])).into_owned();
        let (when, session) = (cell("said_at"), cell("session_id"));
        let when = match age(&when).filter(|_| !global.demo) {
            Some(age) => format!("{}  {age}", zone.minute(&when)),
            None => zone.minute(&when),
        };
        let session = session.get(..8).unwrap_or(&session);
        let kind = format!("{} {}", cell("kind").replace('_', " "), cell("tool"));
        let head = [&when, &cell("project"), kind.trim(), session].join("  ");
        lines.push(emphasis.faint(head.trim_end()));
        let excerpt = cell("excerpt");
        let line: Vec<&str> = excerpt.split_whitespace().collect();
        let excerpt = wrap(&line.join(" "), width, usize::MAX).into_iter();
        lines.extend(excerpt.map(|line| format!("  {}", emphasis.marked(&line))));
        // Once for neighbouring hits in one session.
        let next = found
            .rows
            .get(place + 1)
            .map(|row| &row[column(&found, "session_id")]);
        if next != Some(&row[column(&found, "session_id")]) {
            for command in ["show_command", "resume_command"] {
                let command = cell(command);
                if !command.is_empty() {
                    lines.push(emphasis.faint(&format!("  {command}")));
                }
            }
        }
        lines.push(String::new());
    }
    let zone = sanitize(&zone.name);
    lines.push(emphasis.faint(&format!("times are in {zone}")));
    page(global, &lines.join("\n"))
}

/// The matches, best first.
pub fn find(
    connection: &Connection,
    zone: &TimeZone,
    arguments: &SearchArguments,
) -> Result<QueryRows> {
    let since = arguments.since.as_deref();
    let since = dates::of_option("since", since, dates::first_day, zone)?;
    let until = arguments.until.as_deref();
    let until = dates::of_option("until", until, dates::last_day, zone)?;
    let words = arguments.words.join(" ");
    let flag = |is_set: bool, value: &'static str| is_set.then_some(value);
    let kinds = arguments
        .role
        .map(|role| serde_json::json!(role.kinds()).to_string());
    let search = |words: &str| {
        let parameters = [
            ("words", Some(words)),
            ("project", arguments.project.as_deref()),
            ("since", since.as_deref()),
            ("until", until.as_deref()),
            ("kinds", kinds.as_deref()),
            ("tool", arguments.tool.as_deref()),
            ("is_error", flag(arguments.error, "1")),
            (
                "is_sidechain",
                flag(arguments.sidechain, "1").or(flag(arguments.no_sidechain, "0")),
            ),
        ];
        let mut given: Vec<(String, String)> = parameters
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_string(), value?.to_string())))
            .collect();
        given.push(("limit".to_string(), arguments.limit.to_string()));
        query::run(connection, sql::SEARCH, &given, None)
    };
    // Input that is not a valid FTS5 query is searched for literally.
    let (found, _) = match search(&words) {
        Err(Error::Usage(_)) => search(&quoted(&words))?,
        other => other?,
    };
    Ok(found)
}

fn column(found: &QueryRows, name: &str) -> usize {
    let place = found.columns.iter().position(|column| column == name);
    place.expect("a column of the statement")
}

/// Puts commands in place of the columns that they are made of: one prints the session of a hit, the other resumes it in
/// Claude Code, which finds a session only from the folder that it began in.
fn add_commands(found: &mut QueryRows, global: &Global) {
    let [session, folder, resumable] =
        ["session_id", "start_cwd", "is_resumable"].map(|name| column(found, name));
    let database = match &global.db {
        Some(path) => format!(" --db {}", shell_word(&path.display().to_string())),
        None if global.demo => " --demo".to_string(),
        None => String::new(),
    };
    for row in &mut found.rows {
        let commands = match (&row[session], &row[resumable]) {
            (Value::Text(id), resumable) => {
                let id = shell_word(id);
                let change = match &row[folder] {
                    Value::Text(folder) => format!("cd {} && ", shell_word(folder)),
                    _ => String::new(),
                };
                let resume = match resumable {
                    Value::Integer(1) => Value::Text(format!("{change}claude --resume {id}")),
                    _ => Value::Null,
                };
                [Value::Text(format!("cc-etl show{database} {id}")), resume]
            }
            _ => [Value::Null, Value::Null],
        };
        row.truncate(folder);
        row.extend(commands);
    }
    found.columns.truncate(folder);
    found
        .columns
        .extend(["show_command", "resume_command"].map(str::to_string));
}

/// A string as one word for a POSIX shell.
fn shell_word(text: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_./:@%+=,".contains(character);
    match !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Each word as an FTS5 string.
fn quoted(words: &str) -> String {
    let words = words
        .split_whitespace()
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_a_shell_is_quoted_where_it_must_be() {
        for (text, word) in [
            ("/home/dev/tea-shop", "/home/dev/tea-shop"),
            (
                "/home/dev/it's; rm -rf $HOME",
                r"'/home/dev/it'\''s; rm -rf $HOME'",
            ),
            ("-x", "'-x'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
