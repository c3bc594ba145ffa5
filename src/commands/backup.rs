//! `cc-etl backup`: writes a consistent copy of the database, also during a sync.

use super::{database_path, print};
use crate::cli::{BackupArguments, Global};
use crate::database::{self, Replacement};
use crate::error::Result;
use crate::terminal::{byte_size, sanitize};
use rusqlite::Connection;
use std::fs;
use std::path::Path;

pub fn run(global: &Global, arguments: &BackupArguments) -> Result<()> {
    let connection = database::open_older_read_only(&database_path(global)?)?;
    let copy = Replacement::new(&arguments.file, arguments.overwrite, &connection)?;
    let size = fill(&connection, copy, &arguments.file, arguments.tables_only)?;
    let purpose = match arguments.tables_only {
        true => "tables only, for other programs",
        false => "verified; use it with --db",
    };
    match global.quiet {
        true => Ok(()),
        false => print(&sanitize(&format!(
            "{}: {}, {purpose}",
            arguments.file.display(),
            byte_size(size)
        ))),
    }
}

/// Writes a copy of a database to a temporary file, verifies it, and renames it to the target.
pub fn write(connection: &Connection, target: &Path, may_overwrite: bool) -> Result<u64> {
    let copy = Replacement::new(target, may_overwrite, connection)?;
    fill(connection, copy, target, false)
}

fn fill(
    connection: &Connection,
    copy: Replacement,
    target: &Path,
    tables_only: bool,
) -> Result<u64> {
    database::copy(connection, copy.path())
        .and_then(|()| match tables_only {
            true => database::keep_tables_only(copy.path()),
            false => Ok(()),
        })
        .map_err(|error| error.with_room(target, database_bytes(connection)))?;
    copy.finish()
}

fn database_bytes(connection: &Connection) -> u64 {
    let size = connection.path().map(fs::metadata);
    size.and_then(|size| size.ok()).map_or(0, |size| size.len())
}
