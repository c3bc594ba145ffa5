//! Fills a new database page by page, without SQLite.
//!
//! Rows cannot be read back, so maps hold the ids that later lines refer to. The maps are complete: a miss means that the id
//! is new.

use super::id_map::IdMap;
use super::{Id, LastKeys, Store};
use crate::archive::Hash;
use crate::error::{Error, Result};
use crate::load::FileVersion;
use crate::pipeline::Pipeline;
use crate::rows::{ArchiveChunk, File, Insert, ROW_TABLES, Row};
use crate::sqlite_bulk::BulkFile;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Appends rows to the tables of a new database.
pub struct Pages {
    path: PathBuf,
    file: BulkFile,
    messages: IdMap,
    responses: IdMap,
    calls: IdMap,
    /// The uuid and key of the last message, which is usually the parent of the next.
    last_message: (String, i64),
}

impl Pages {
    /// Takes a new database in which only `sources` has rows.
    pub fn new(connection: Connection, path: &Path) -> Result<Pages> {
        Ok(Pages {
            path: path.to_path_buf(),
            file: BulkFile::open(connection, path, ROW_TABLES).map_err(Error::bulk(path))?,
            messages: IdMap::default(),
            responses: IdMap::default(),
            calls: IdMap::default(),
            last_message: (String::new(), 0),
        })
    }

    /// Writes the buffered pages and the indexes, which completes the database file.
    pub fn finish(self, pipeline: &Pipeline) -> Result<()> {
        let finished = self.file.finish(pipeline.threads());
        finished.map_err(Error::bulk(&self.path))
    }
}

impl Insert for Pages {
    fn insert<R: Row>(&mut self, row: &R) -> Result<()> {
        let inserted = row.with_values(|values| self.file.insert(R::NUMBER, values));
        inserted.map_err(Error::bulk(&self.path))
    }
}

impl Store for Pages {
    /// A new database needs no transaction, because nothing else can open it.
    fn begin(&mut self) -> Result<Option<LastKeys>> {
        Ok(None)
    }

    fn find(&mut self, id: Id<'_>) -> Result<Option<i64>> {
        Ok(match id {
            Id::Message(uuid) if uuid == self.last_message.0 && self.last_message.1 > 0 => {
                Some(self.last_message.1)
            }
            Id::Message(uuid) => self.messages.get(uuid),
            Id::Response(id) => self.responses.get(id),
            Id::Call(id) => self.calls.get(id),
            // The loader itself remembers those of its run, and there are no others.
            Id::Project(_) | Id::Agent(..) => None,
        })
    }

    fn remember(&mut self, id: Id<'_>, key: i64) {
        match id {
            Id::Message(uuid) => {
                self.messages.insert(uuid, key);
                self.last_message.0.clear();
                self.last_message.0.push_str(uuid);
                self.last_message.1 = key;
            }
            Id::Response(id) => self.responses.insert(id, key),
            Id::Call(id) => self.calls.insert(id, key),
            Id::Project(_) | Id::Agent(..) => {}
        }
    }

    fn insert_last<R: Row + Default>(&mut self, row: &mut R) -> Result<()> {
        self.insert(row)
    }

    fn is_as_found(&mut self, version: &FileVersion) -> Result<bool> {
        Ok(version.file_id.is_none())
    }

    fn save_chunk(&mut self, chunk: &ArchiveChunk, _known: Option<Hash>) -> Result<bool> {
        self.insert(chunk).map(|()| true)
    }

    fn save_file(&mut self, file: &File, _changed: &[&str]) -> Result<()> {
        self.insert(file)
    }

    /// A new database has no outdated rows.
    fn take_back(&mut self, _statement: &str, _file_id: i64) -> Result<()> {
        Ok(())
    }
}
