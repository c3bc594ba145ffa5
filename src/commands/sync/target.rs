//! The database that a sync writes.

use super::rebuild;
use crate::database::{self, SCHEMA_VERSION};
use crate::error::{Error, Problem, Result};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
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
