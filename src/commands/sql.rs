//! `cc-etl sql`: opens the database in the shell of SQLite.

use super::database_path;
use crate::cli::{Global, SqlArguments};
use crate::database;
use crate::error::{Error, Result};
use std::process::Command;

pub fn run(global: &Global, arguments: &SqlArguments) -> Result<()> {
    let path = database_path(global)?;
    database::open_read_only(&path)?;
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
