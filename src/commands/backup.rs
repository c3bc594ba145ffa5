//! `cc-etl backup`: writes a consistent copy of the database, also during a sync.

use super::{database_path, print};
use crate::cli::{BackupArguments, Global};
use crate::database;
use crate::error::{Error, Result};
use crate::terminal::{byte_size, sanitize};
use rusqlite::Connection;
use std::fs;
use std::path::Path;

pub fn run(global: &Global, arguments: &BackupArguments) -> Result<()> {
    let connection = database::open_older_read_only(&database_path(global)?)?;
    write(&connection, &arguments.file, arguments.overwrite)?;
    let size = fs::metadata(&arguments.file).map_err(Error::io(&arguments.file))?;
    match global.quiet {
        true => Ok(()),
        false => print(&sanitize(&format!(
            "{}: {}, verified; use it with --db",
            arguments.file.display(),
            byte_size(size.len())
        ))),
    }
}

/// Writes a copy of a database to a temporary file, verifies it, and renames it to the target.
pub fn write(connection: &Connection, target: &Path, may_overwrite: bool) -> Result<()> {
    match fs::symlink_metadata(target) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(Error::Usage(format!(
                "{} is not a regular file; name another file",
                target.display()
            )));
        }
        Ok(_) if !may_overwrite => return Err(exists(target)),
        Ok(_) if is_same_file(connection, target) => {
            return Err(Error::Usage(format!(
                "{} is the database itself; name another file",
                target.display()
            )));
        }
        _ => {}
    }
    let folder = database::folder_of(target);
    let name = target.file_name().unwrap_or_default();
    let mut prefix = name.to_os_string();
    prefix.push(".partial-");
    database::remove_leftovers(folder, &prefix);
    let partial = tempfile::Builder::new()
        .prefix(&prefix)
        .make_in(folder, |path| {
            let mut options = fs::OpenOptions::new();
            database::open_private(path, options.write(true).create_new(true))
        })
        .map_err(Error::io(folder))?;
    let (file, partial) = partial.into_parts();
    database::mark_as_used(&file).map_err(Error::io(&partial))?;
    database::copy(connection, &partial)
        .map_err(|error| error.with_room(target, database_bytes(connection)))?;
    drop(file);
    let persisted = match may_overwrite {
        true => partial.persist(target),
        false => partial.persist_noclobber(target),
    };
    persisted.map_err(|failed| match failed.error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(target),
        _ => Error::Io(target.to_path_buf(), failed.error),
    })?;
    database::sync_folder(target)
}

fn exists(target: &Path) -> Error {
    Error::Usage(format!(
        "{} exists; name another file, or give --overwrite",
        target.display()
    ))
}

fn is_same_file(connection: &Connection, target: &Path) -> bool {
    let database = connection.path().map(fs::canonicalize);
    matches!((database, fs::canonicalize(target)), (Some(Ok(a)), Ok(b)) if a == b)
}

fn database_bytes(connection: &Connection) -> u64 {
    let size = connection.path().map(fs::metadata);
    size.and_then(|size| size.ok()).map_or(0, |size| size.len())
}
