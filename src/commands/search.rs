//! `cc-etl search`: full-text search over prompts, responses, thinking and commands.

use super::{database_path, print};
use crate::cli::{Global, SearchArguments};
use crate::database::statements as sql;
use crate::dates;
use crate::error::{Error, Result};
use crate::format::{Format, text};
use crate::query;
use crate::terminal::{Emphasis, sanitize};
use crate::time_zone::TimeZone;
use std::time::Duration;

pub fn run(global: &Global, arguments: &SearchArguments) -> Result<()> {
    let connection = query::open(&database_path(global)?, Duration::from_secs(30))?;
    let zone = TimeZone::read(&connection)?;
    let day = |text: &Option<String>, parse: dates::Parse, option: &str| match text {
        None => Ok(None),
        Some(text) => match parse(text, zone.today()) {
            Ok(day) => Ok(Some(day)),
            Err(problem) => Err(Error::Usage(format!("--{option}: {problem}"))),
        },
    };
    let since = day(&arguments.since, dates::first_day, "since")?;
    let until = day(&arguments.until, dates::last_day, "until")?;
    let words = arguments.words.join(" ");
    let search = |words: &str| {
        let parameters = [
            ("words", Some(words)),
            ("project", arguments.project.as_deref()),
            ("since", since.as_deref()),
            ("until", until.as_deref()),
            ("role", arguments.role.map(|role| role.name())),
            ("tool", arguments.tool.as_deref()),
        ];
        let mut given: Vec<(String, String)> = parameters
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_string(), value?.to_string())))
            .collect();
        given.push(("limit".to_string(), arguments.limit.to_string()));
        query::run(&connection, sql::SEARCH, &given, None)
    };
    // Input that is not a valid FTS5 query is searched for literally.
    let (found, _) = match search(&words) {
        Err(Error::Usage(_)) => search(&quoted(&words))?,
        other => other?,
    };
    if arguments.format != Format::Table {
        return print(&found.format(arguments.format, false));
    }
    if found.rows.is_empty() {
        return print(&format!("no match for {}", sanitize(&words)));
    }
    let emphasis = Emphasis::new(global.color);
    for row in &found.rows {
        let cell = |column: usize| sanitize(&text(&row[column])).into_owned();
        let (when, project, role, session, excerpt) = (cell(0), cell(1), cell(2), cell(3), cell(4));
        let when = zone.minute(&when);
        let session = session.get(..8).unwrap_or(&session);
        print(&emphasis.faint(&format!("{when}  {project}  {role}  {session}")))?;
        let line: Vec<&str> = excerpt.split_whitespace().collect();
        print(&format!("  {}\n", emphasis.marked(&line.join(" "))))?;
    }
    let first = text(&found.rows[0][3]);
    print(&emphasis.faint(&format!(
        "times are in {}; show the session: cc-etl show {}",
        sanitize(&zone.name),
        first.get(..8).unwrap_or(&first)
    )))
}

/// Each word as an FTS5 string.
fn quoted(words: &str) -> String {
    let words = words
        .split_whitespace()
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")));
    words.collect::<Vec<_>>().join(" ")
}
