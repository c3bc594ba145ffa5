//! `cc-etl rebuild`: rebuilds all tables from the archive.

use super::{backup, database_path, print, warn};
use crate::cli::Global;
use crate::database::{self, SCHEMA_VERSION, Wait, statements as sql};
use crate::error::{Error, Problem, Result};
use crate::failures::Failures;
use crate::import::{Commits, Importer, Input};
use crate::load::{Counts, FileVersion, Loader};
use crate::pipeline::Pipeline;
use crate::progress::Progress;
use crate::read::{ArchivedFile, Bytes};
use crate::stop::Stop;
use crate::store::Statements;
use crate::terminal::grouped;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Rebuilds all tables. Upgrades a database of an older schema.
pub fn run(global: &Global) -> Result<()> {
    let path = database_path(global)?;
    // Without a database there is nothing to lock.
    database::open_older_read_only(&path)?;
    let _lock = database::lock(&path, Wait::No, &Stop::default())?;
    let connection = database::open_older(&path)?;
    let size = std::fs::metadata(&path).map_or(0, |file| file.len());
    let derived = match database::schema_version(&connection)? {
        SCHEMA_VERSION.. => derive(&connection, &path, global.quiet),
        _ => upgrade(&connection, &path, global.quiet),
    };
    let (counts, failures) = derived.map_err(|error| error.with_room(&path, size))?;
    if let Some(problem) = database::close(connection, &path) {
        warn(&problem.to_string());
    }
    if !global.quiet {
        let (messages, events) = (grouped(counts.messages), grouped(counts.events));
        print(&format!(
            "{} lines: {messages} messages, {events} events",
            grouped(counts.lines)
        ))?;
    }
    (failures.iter()).for_each(|failure| warn(&failure.to_string()));
    match failures.len() {
        0 => Ok(()),
        count => Err(Error::Underived(count as u64)),
    }
}

/// Upgrades a database to this schema, after a backup. If anything fails, it is unchanged.
pub fn upgrade(
    connection: &Connection,
    path: &Path,
    is_quiet: bool,
) -> Result<(Counts, Vec<Problem>)> {
    let version = database::schema_version(connection)?;
    let copy = database::with_suffix(path, &format!(".schema-{version}.backup"));
    backup::write(connection, &copy, true)?;
    if !is_quiet {
        warn(&format!(
            "{} has schema {version} and is upgraded to {SCHEMA_VERSION}; as it was, it is kept in {}",
            path.display(),
            copy.display()
        ));
    }
    derive(connection, path, is_quiet)
}

/// Rebuilds the tables from the archive in one transaction. Returns the counts and the scripts that failed.
pub fn derive(
    connection: &Connection,
    path: &Path,
    is_quiet: bool,
) -> Result<(Counts, Vec<Problem>)> {
    let mut failures = Failures::default();
    let (counts, mut problems) = loop {
        let fill = |failures: &Failures| fill(connection, path, is_quiet, failures);
        if let Some(filled) = failures.attempt(fill)? {
            break filled;
        }
    };
    connection.pragma_update(None, "foreign_keys", true)?;
    problems.extend(failures.problems());
    Ok((counts, problems))
}

fn fill(
    connection: &Connection,
    path: &Path,
    is_quiet: bool,
    failures: &Failures,
) -> Result<(Counts, Vec<Problem>)> {
    let mut loader = Loader::rebuild(connection)?;
    let progress = Progress::bytes("reading", archived_bytes(connection)?, is_quiet);
    let importer = Importer {
        pipeline: &Pipeline::new(None),
        commits: Commits::ByCaller,
        progress: &progress,
        stop: &Stop::default(),
        failures,
    };
    load_archive(&mut loader, connection, path, &importer)?;
    progress.step("indexing");
    loader.finish()?;
    progress.finish();
    Ok((loader.counts.clone(), std::mem::take(&mut loader.failures)))
}

/// The size of the files in the archive.
pub fn archived_bytes(connection: &Connection) -> Result<u64> {
    let bytes: i64 = connection.query_row(sql::COUNT_ARCHIVED_BYTES, [], |row| row.get(0))?;
    Ok(bytes.cast_unsigned())
}

/// Loads all files of the archive into tables that [`Loader::rebuild`] emptied.
pub fn load_archive(
    loader: &mut Loader<Statements<'_>>,
    connection: &Connection,
    path: &Path,
    importer: &Importer<'_>,
) -> Result<()> {
    let reader = Arc::new(Mutex::new(database::open_older_read_only(path)?));
    let files = archived_files(connection)?.into_iter();
    let inputs = files.map(|(version, size)| Input {
        name: PathBuf::from(&version.path),
        bytes: Bytes::Archive(ArchivedFile {
            connection: reader.clone(),
            file_id: version.file_id.unwrap_or_default(),
            hashes: Vec::new(),
        }),
        version: Arc::new(version),
        size,
        chunks: Vec::new(),
        settled: None,
    });
    let imported = importer.import(inputs, loader)?;
    importer.stop.check()?;
    if let Some(problem) = imported.problems.first() {
        // Nothing is committed, so the tables are unchanged.
        let message = format!("the archive cannot be read, so nothing was changed: {problem}");
        return Err(Error::CheckFailed(message));
    }
    Ok(())
}

/// All file versions in the archive, as if none were parsed, with their sizes.
pub fn archived_files(connection: &Connection) -> Result<Vec<(FileVersion, u64)>> {
    let mut statement = connection.prepare(sql::ARCHIVED_FILES)?;
    let files = statement.query_map([], |row| {
        let version = FileVersion {
            file_id: Some(row.get(0)?),
            path_bytes: row.get(3)?,
            ..FileVersion::new(row.get(1)?, row.get(2)?, row.get(4)?)
        };
        Ok((version, row.get::<_, i64>(5)?.cast_unsigned()))
    })?;
    Ok(files.collect::<rusqlite::Result<_>>()?)
}
