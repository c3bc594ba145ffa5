//! The database that a sync writes.

use super::rebuild;
use crate::database::{self, SCHEMA_VERSION, statements as sql};
use crate::error::{Error, Problem, Result};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};
use tempfile::TempPath;

/// The database to write: an existing one, or a new one that is built under another name and renamed when it is complete.
pub struct Target {
    pub connection: Connection,
    pub path: PathBuf,
    /// The new database, removed if anything fails.
    pub building: Option<TempPath>,
    /// Its journals, removed in any case.
    _journals: Vec<TempPath>,
    /// Flushes the pages of the new database to disk in the background.
    pub writing: Option<JoinHandle<Result<()>>>,
}

impl Target {
    pub fn open(path: &Path, is_quiet: bool) -> Result<Target> {
        let connection = database::open_older(path)?;
        if database::schema_version(&connection)? < SCHEMA_VERSION {
            // This sync runs failed scripts again, and reports them.
            rebuild::upgrade(&connection, path, is_quiet)?;
        }
        Ok(Target {
            connection,
            path: path.to_path_buf(),
            building: None,
            _journals: Vec::new(),
            writing: None,
        })
    }

    pub fn create(path: &Path, is_bulk: bool) -> Result<Target> {
        let building = database::with_suffix(path, ".building");
        // Delete the remains of a killed first sync, and journals without a database: SQLite would use them for the new one.
        let journals = ["-wal", "-shm", "-journal"];
        let journals_of = |file: &Path| journals.map(|suffix| database::with_suffix(file, suffix));
        let left = journals_of(&building).into_iter().chain(journals_of(path));
        for left in left.chain([building.clone()]) {
            match fs::remove_file(&left) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::Io(left, error));
                }
                _ => {}
            }
        }
        let temporary = |path: PathBuf| TempPath::try_from_path(&path).map_err(Error::io(&path));
        let journals = journals_of(&building).into_iter().map(temporary);
        let journals = journals.collect::<Result<_>>()?;
        let temporary = temporary(building.clone())?;
        let mut connection = database::create(&building)?;
        if !is_bulk {
            connection = database::open_for_statements(connection, &building)?;
        }
        Ok(Target {
            connection,
            path: path.to_path_buf(),
            building: Some(temporary),
            _journals: journals,
            writing: None,
        })
    }

    /// The demo and real history must not be in one database.
    pub fn refuse_mixture(&self, is_demo: bool) -> Result<()> {
        let (sources, demos): (i64, i64) =
            self.connection
                .query_row(sql::COUNT_SOURCES, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        match (is_demo, sources - demos, demos) {
            (true, 1.., _) => Err(Error::Usage(
                "this database holds real history; name another file for the demo: --demo --db demo.db"
                    .to_string(),
            )),
            (false, _, 1..) => Err(Error::Usage(
                "this database holds the demo; name another file for your history with --db FILE, or leave out --db"
                    .to_string(),
            )),
            _ => Ok(()),
        }
    }

    pub fn close(self) -> Result<Option<Problem>> {
        let Some(building) = self.building else {
            return Ok(database::close(self.connection, &self.path));
        };
        if let Some(writing) = self.writing {
            writing.join().expect("fsync does not panic")?;
        }
        database::finish_new(self.connection, &building)?;
        // Never overwrite a database that another program has created in the meantime.
        building
            .persist_noclobber(&self.path)
            .map_err(|failed| Error::Io(self.path.clone(), failed.error))?;
        database::sync_folder(&self.path)?;
        Ok(None)
    }
}

/// Flushes the pages of a new database to disk. Without another thread, [`Target::close`] does it.
pub fn write_in_background(building: &Path) -> Option<JoinHandle<Result<()>>> {
    let building = building.to_path_buf();
    let write = move || database::sync_file(&building);
    Builder::new().spawn(write).ok()
}
