//! The operations that a loader needs from a database: insert a row, find a key, delete outdated rows of a file.
//!
//! A store has no rules: the loader decides which row is inserted, replaced or deferred (`load.rs`). [`Statements`] writes to an
//! existing database through SQLite. [`Pages`] fills a new one page by page; it can only append rows, and not read them back.

mod id_map;
mod pages;
mod statements;

use crate::archive::Hash;
use crate::error::Result;
use crate::load::FileVersion;
use crate::rows::{ArchiveChunk, File, Insert, Row};

pub use pages::Pages;
pub use statements::Statements;

/// An id that lines use to refer to a row.
#[derive(Clone, Copy)]
pub enum Id<'a> {
    /// A project, by its folder name.
    Project(&'a str),
    /// A message, by its uuid.
    Message(&'a str),
    /// A response, by its name (`Usage::response_name`).
    Response(&'a str),
    /// A tool call, by its id. Calls have no integer key: any number means that the call exists.
    Call(&'a str),
    /// A sub-agent, by its session and its id in the session.
    Agent(&'a str, &'a str),
}

/// The largest integer keys in use.
#[derive(Default, Clone, Copy)]
pub struct LastKeys {
    pub file: i64,
    pub project: i64,
    pub agent: i64,
    pub message: i64,
    pub block: i64,
    pub result: i64,
    pub event: i64,
    pub history_prompt: i64,
    pub response: i64,
}

/// A database to load rows into.
pub trait Store: Insert {
    /// Begins a transaction unless one is open. If another program has written since the last one, returns the largest keys.
    fn begin(&mut self) -> Result<Option<LastKeys>>;

    /// The key of the row with an id.
    fn find(&mut self, id: Id<'_>) -> Result<Option<i64>>;

    /// Remembers the key of a row that the loader has inserted or is about to insert.
    fn remember(&mut self, id: Id<'_>, key: i64);

    /// Inserts a row that is not used afterwards. A store may clear it to free long strings early.
    fn insert_last<R: Row + Default>(&mut self, row: &mut R) -> Result<()>;

    /// Whether the database has exactly the recorded part of a file version.
    fn is_as_found(&mut self, version: &FileVersion) -> Result<bool>;

    /// Inserts a chunk, or replaces the one with the hash `known`. Returns false and changes nothing if the stored chunk has
    /// another hash.
    fn save_chunk(&mut self, chunk: &ArchiveChunk, known: Option<Hash>) -> Result<bool>;

    /// Inserts the row of a file, or updates these columns if it exists.
    fn save_file(&mut self, file: &File, changed: &[&str]) -> Result<()>;

    /// Runs a statement that deletes outdated rows of a file; its parameter is the key of the file.
    fn take_back(&mut self, statement: &str, file_id: i64) -> Result<()>;
}
