//! `cc-etl sql`: opens the database in the shell of SQLite.

use super::{database_path, warn};
use crate::cli::{Global, SqlArguments};
use crate::database;
use crate::error::{Error, Result};
use crate::terminal;
use std::io::IsTerminal;
use std::process::Command;

/// `.tables` lists more than a hundred names, those of internal tables first.
const HINT: &str = "begin with the views session_overview, daily_costs, tool_calls, feedback and conversation; .schema NAME describes one; \
                    names that begin with _ are internal";

pub fn run(global: &Global, arguments: &SqlArguments) -> Result<()> {
    let path = database_path(global)?;
    database::open_read_only(&path)?;
    let is_typed = arguments.arguments.is_empty() && std::io::stdin().is_terminal();
    if is_typed && terminal::is_used() && !global.quiet {
        warn(HINT);
    }
    let status = Command::new("sqlite3")
        .arg("-readonly")
        .arg(&path)
        .args(&arguments.arguments)
        .status()
        .map_err(|error| {
            Error::Usage(format!(
                "cannot start sqlite3: {error}; install it from https://sqlite.org/download.html, or use cc-etl query --sql"
            ))
        })?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::Unusable(format!("sqlite3 exited with {status}"))),
    }
}
