//! What a loader needs from a database: insert a row, find the key of an id, take back what a file said before.
//!
//! A store decides nothing: which row is inserted, replaced or deferred is the loader's business (`load.rs`). There are two.
//! [`Statements`] writes to an existing database through SQLite. [`Pages`] fills a new one page by page: rows can only be
//! appended there, and cannot be read back.

mod id_map;
mod pages;
mod statements;

use crate::archive::Hash;
use crate::error::Result;
use crate::load::FileVersion;
use crate::rows::{ArchiveChunk, File, Insert, Row};

pub use pages::Pages;
pub use statements::Statements;

/// An id by which lines name a row.
#[derive(Clone, Copy)]
pub enum Id<'a> {
    /// A project, by the name of its folder.
    Project(&'a str),
    /// A message, by its uuid.
    Message(&'a str),
    /// A response, by its name (`Usage::response_name`).
    Response(&'a str),
    /// A tool call, by its id. Calls have no integer key: any number means that the call is there.
    Call(&'a str),
    /// A sub-agent, by its session and its id there.
    Agent(&'a str, &'a str),
}

/// The greatest integer keys that are taken.
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

/// A database as the loader sees it.
pub trait Store: Insert {
    /// Begins a transaction, if none is open. Returns the keys that are taken if another program has written since the last.
    fn begin(&mut self) -> Result<Option<LastKeys>>;

    /// The key of the row that has an id, if there is one.
    fn find(&mut self, id: Id<'_>) -> Result<Option<i64>>;

    /// Notes the key of a row that the loader inserted, or is about to insert.
    fn remember(&mut self, id: Id<'_>, key: i64);

    /// Inserts a row whose content is not needed afterwards: a store may leave it empty to free a long string early.
    fn insert_last<R: Row + Default>(&mut self, row: &mut R) -> Result<()>;

    /// Whether a file version is in the database as far as it was found to be, and no further.
    fn is_as_found(&mut self, version: &FileVersion) -> Result<bool>;

    /// Inserts a chunk, or puts it in place of one with a hash. Returns false, having done nothing, if the one in its place
    /// has another.
    fn save_chunk(&mut self, chunk: &ArchiveChunk, known: Option<Hash>) -> Result<bool>;

    /// Inserts the row of a file, or updates some of its columns if it is there.
    fn save_file(&mut self, file: &File, changed: &[&str]) -> Result<()>;

    /// Runs a statement that takes back what a file said before, with the key of the file as its parameter.
    fn take_back(&mut self, statement: &str, file_id: i64) -> Result<()>;
}
