//! Writes rows to a new database with [`BulkFile`].

use crate::error::{Error, Result};
use crate::pipeline::Pipeline;
use crate::rows::{Insert, ROW_TABLES, Row};
use crate::sqlite_bulk::{self, BulkFile};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

pub struct SqliteFile {
    path: PathBuf,
    file: BulkFile,
}

impl SqliteFile {
    /// Opens a new database whose tables are empty, and closes the connection.
    pub fn new(connection: Connection, path: &Path) -> Result<SqliteFile> {
        let file = BulkFile::open(connection, path, ROW_TABLES);
        Ok(SqliteFile {
            file: file.map_err(|error| own(error, path))?,
            path: path.to_path_buf(),
        })
    }

    /// Writes the buffered rows and the indexes. Then SQLite can open the file.
    pub fn finish(self, pipeline: &Pipeline) -> Result<()> {
        let finished = self.file.finish(pipeline.threads());
        finished.map_err(|error| own(error, &self.path))
    }
}

impl Insert for SqliteFile {
    fn insert<R: Row>(&mut self, row: &R) -> Result<()> {
        let inserted = row.with_values(|values| self.file.insert(R::NUMBER, values));
        inserted.map_err(|error| own(error, &self.path))
    }
}

/// Converts an error of the page writer.
pub fn own(error: sqlite_bulk::Error, path: &Path) -> Error {
    match error {
        sqlite_bulk::Error::Refused(reason) => Error::NotInBulk(reason),
        sqlite_bulk::Error::Io(error) => Error::Io(path.to_path_buf(), error),
        sqlite_bulk::Error::Sqlite(error) => Error::Database(error),
    }
}
