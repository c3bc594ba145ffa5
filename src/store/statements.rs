//! Writes to an existing database through SQLite, in transactions.

use super::id_map::IdMap;
use super::{Id, LastKeys, Store};
use crate::archive::Hash;
use crate::database::{Inserter, create_index, statements as sql};
use crate::error::Result;
use crate::load::FileVersion;
use crate::rows::{AgentLink, ArchiveChunk, File, Insert, Row};
use foldhash::HashMap;
use rusqlite::{Connection, OptionalExtension, Params, Transaction, TransactionBehavior, params};

/// Inserts rows with statements.
pub struct Statements<'c> {
    /// For statements that the loader runs itself.
    pub connection: &'c Connection,
    transaction: Option<Transaction<'c>>,
    /// Changes when another connection writes.
    data_version: i64,
    inserter: Inserter<'c>,
    /// The messages of this run, which include most parents.
    messages: IdMap,
    /// Whether the database has no other messages.
    has_all_messages: bool,
    /// Recent responses.
    responses: HashMap<String, i64>,
}

/// At most this many responses are cached, because the lines of a response are close together.
const RESPONSES: usize = 4096;

impl<'c> Statements<'c> {
    pub fn new(connection: &'c Connection) -> Result<Self> {
        let mut store = Statements {
            connection,
            transaction: None,
            data_version: 0,
            inserter: Inserter::new(connection),
            messages: IdMap::default(),
            has_all_messages: false,
            responses: HashMap::default(),
        };
        store.data_version = store.read_data_version()?;
        Ok(store)
    }

    pub fn is_open(&self) -> bool {
        self.transaction.is_some()
    }

    /// Commits the transaction if one is open.
    pub fn commit(&mut self) -> Result<()> {
        match self.transaction.take() {
            Some(transaction) => Ok(transaction.commit()?),
            None => Ok(()),
        }
    }

    fn read_data_version(&self) -> Result<i64> {
        let mut statement = self.connection.prepare_cached("pragma data_version")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// Accepts the changes of this connection, so that only those of others count.
    pub fn accept_data_version(&mut self) -> Result<()> {
        self.data_version = self.read_data_version()?;
        Ok(())
    }

    /// Reads the largest keys, and clears the cached ids. Triggers record all later changes.
    pub fn read_keys(&mut self) -> Result<LastKeys> {
        self.connection.execute_batch(sql::CREATE_TOUCHED)?;
        let keys = self.last_keys()?;
        self.messages.clear();
        self.responses.clear();
        self.has_all_messages = keys.message == 0;
        // In an empty database every row is new, so changes need not be recorded.
        if !self.touches_all()? {
            self.connection.execute_batch(sql::NOTE_CHANGES)?;
        }
        Ok(keys)
    }

    /// Whether the database has no rows that new lines could change, or all rows are derived again.
    pub fn touches_all(&self) -> Result<bool> {
        let mut statement = self.connection.prepare_cached(sql::TOUCHES_ALL)?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// The keys that are taken after the scripts of `sql/derive`, which add agents and merge responses.
    pub fn derived_keys(&mut self) -> Result<LastKeys> {
        self.responses.clear();
        self.last_keys()
    }

    /// The largest keys.
    fn last_keys(&self) -> Result<LastKeys> {
        let mut statement = self.connection.prepare_cached(sql::LAST_KEYS)?;
        Ok(statement.query_row([], |row| {
            Ok(LastKeys {
                file: row.get(0)?,
                project: row.get(1)?,
                agent: row.get(2)?,
                message: row.get(3)?,
                block: row.get(4)?,
                result: row.get(5)?,
                event: row.get(6)?,
                history_prompt: row.get(7)?,
                response: row.get(8)?,
            })
        })?)
    }

    /// Runs a statement that returns no rows.
    pub fn execute(&self, statement: &str, parameters: impl Params) -> Result<usize> {
        Ok(self
            .connection
            .prepare_cached(statement)?
            .execute(parameters)?)
    }

    /// Inserts a link unless it exists.
    pub fn insert_link(&self, link: &AgentLink) -> Result<()> {
        self.inserter.insert(link).map(drop)
    }

    /// Replaces the row with the same key.
    pub fn replace<R: Row>(&self, row: &R) -> Result<()> {
        self.inserter.replace(row)
    }

    fn find_by(&self, statement: &str, parameters: impl Params) -> Result<Option<i64>> {
        let mut find = self.connection.prepare_cached(statement)?;
        Ok(find.query_row(parameters, |row| row.get(0)).optional()?)
    }
}

impl Insert for Statements<'_> {
    fn insert<R: Row>(&mut self, row: &R) -> Result<()> {
        self.inserter.insert(row).map(drop)
    }
}

impl Store for Statements<'_> {
    fn begin(&mut self) -> Result<Option<LastKeys>> {
        if self.transaction.is_some() {
            return Ok(None);
        }
        let begun = Transaction::new_unchecked(self.connection, TransactionBehavior::Immediate)?;
        self.transaction = Some(begun);
        // The lock prevents concurrent syncs; this covers file systems without locks.
        let data_version = self.read_data_version()?;
        if data_version == self.data_version {
            return Ok(None);
        }
        self.data_version = data_version;
        self.read_keys().map(Some)
    }

    fn find(&mut self, id: Id<'_>) -> Result<Option<i64>> {
        match id {
            Id::Message(uuid) => {
                if self.messages.is_full() {
                    create_index(self.connection, "messages_by_uuid")?;
                    self.messages.clear();
                    self.has_all_messages = false;
                }
                match self.messages.get(uuid) {
                    None if !self.has_all_messages => {
                        self.find_by(sql::FIND_MESSAGE_BY_UUID, [uuid])
                    }
                    known => Ok(known),
                }
            }
            Id::Response(name) => match self.responses.get(name) {
                None => {
                    let (id, scope) = name.split_once('\0').unwrap_or((name, ""));
                    self.find_by(sql::FIND_RESPONSE, [id, scope])
                }
                known => Ok(known.copied()),
            },
            Id::Call(id) => self.find_by(sql::FIND_TOOL_USE_BLOCK, [id]),
            Id::Project(name) => self.find_by(sql::FIND_PROJECT, [name]),
            Id::Agent(session_id, agent_id) => {
                self.find_by(sql::FIND_AGENT, [session_id, agent_id])
            }
        }
    }

    fn remember(&mut self, id: Id<'_>, key: i64) {
        match id {
            Id::Message(uuid) => self.messages.insert(uuid, key),
            Id::Response(name) => {
                if self.responses.len() >= RESPONSES {
                    self.responses.clear();
                }
                self.responses.insert(name.to_string(), key);
            }
            Id::Project(_) | Id::Call(_) | Id::Agent(..) => {}
        }
    }

    fn insert_last<R: Row + Default>(&mut self, row: &mut R) -> Result<()> {
        self.inserter.insert_last(row)
    }

    fn is_as_found(&mut self, version: &FileVersion) -> Result<bool> {
        match version.file_id {
            // Bytes from the archive are read in the same transaction.
            Some(_) if version.stat.is_none() => Ok(true),
            Some(file_id) => {
                let mut find = self.connection.prepare_cached(sql::FIND_ARCHIVED_BYTES)?;
                Ok(find.query_row([file_id], |row| {
                    let (size, hash): (i64, Option<Hash>) = (row.get(0)?, row.get(1)?);
                    let (parsed, lines, blank): (i64, i64, i64) =
                        (row.get(2)?, row.get(3)?, row.get(4)?);
                    Ok(
                        (size.cast_unsigned(), hash) == (version.size, version.archived_hash)
                            && parsed.cast_unsigned() == version.parsed
                            && (lines, blank) == (version.newline_count, version.blank_line_count),
                    )
                })?)
            }
            None => {
                let version = (version.source_id, &version.path, version.generation);
                Ok(self.find_by(sql::FIND_FILE_VERSION, version)?.is_none())
            }
        }
    }

    fn save_chunk(&mut self, chunk: &ArchiveChunk, known: Option<Hash>) -> Result<bool> {
        let saved = self.execute(
            sql::UPSERT_CHUNK,
            params![
                chunk.file_id,
                chunk.position,
                chunk.byte_offset,
                chunk.byte_length,
                chunk.content,
                chunk.content_hash,
                known,
            ],
        )?;
        Ok(saved > 0)
    }

    fn save_file(&mut self, file: &File, changed: &[&str]) -> Result<()> {
        self.inserter.upsert(file, changed)
    }

    fn take_back(&mut self, statement: &str, file_id: i64) -> Result<()> {
        self.execute(statement, [file_id]).map(drop)
    }
}
