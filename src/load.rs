//! Rows -> tables: the only place that decides what becomes of a row.
//!
//! Batches arrive in the order of their files. Most lines are new, and their rows are inserted as they come, through a
//! store ([`crate::store`]): an existing database or a new one. What one line cannot decide is deferred to the commit,
//! when all rows can be read (`deferred.rs`, `commit.rs`): a line whose uuid or call is there already, the small tables,
//! and which keys have to be derived again.
//!
//! | file            | what it decides                                                                         |
//! |-----------------|-----------------------------------------------------------------------------------------|
//! | `files`         | how far a file is archived and parsed; chunks                                           |
//! | `messages`      | the keys of a message; its blocks; which lines are deferred                             |
//! | `calls`         | which result settles a call, how long it took, which file it changed                    |
//! | `responses`     | which line gives the usage of a response, and why the others are not counted            |
//! | `copies`        | which of several lines with one uuid is the message                                     |
//! | `shared_calls`  | which of several messages a call belongs to                                             |
//! | `conflicts`     | lines whose uuid or call was there before: what the verdicts of the two above lead to   |
//! | `deferred`      | what waits for the commit                                                               |
//! | `commit`        | writes what was deferred, derives the rest, commits                                     |

mod calls;
mod commit;
mod conflicts;
mod copies;
mod deferred;
mod files;
mod messages;
mod responses;
mod shared_calls;
mod unknown_kinds;

use crate::archive::{Chunk, Hash};
use crate::database::statements as sql;
use crate::discover::{Place, Stat};
use crate::error::{Problem, Result};
use crate::pipeline::Pipeline;
use crate::rows::{EventRows, HistoryRows, RejectedLine, Rows};
use crate::store::{LastKeys, Pages, Statements, Store};
use calls::WaitingCalls;
use copies::FileKey;
use deferred::Deferred;
use files::OpenFile;
use foldhash::HashMap;
use responses::OpenResponses;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

pub use commit::Written;
pub use responses::judge_touched;

/// A version of a file, and how far it has been read before this run.
#[derive(Debug)]
pub struct FileVersion {
    /// The home.
    pub source_id: i64,
    /// Its row, if it has one.
    pub file_id: Option<i64>,
    /// Relative to the home.
    pub path: String,
    /// The path itself, where that is another.
    pub path_bytes: Option<Vec<u8>>,
    /// What the path says.
    pub place: Place,
    /// Which version.
    pub generation: i64,
    /// What the file system said when it was opened; nothing when its bytes come from the archive.
    pub stat: Option<Stat>,
    /// Whether it may change without its stat showing it.
    pub is_racy: bool,
    /// Bytes that are archived.
    pub size: u64,
    /// The running hash of these.
    pub archived_hash: Option<Hash>,
    /// Bytes that are rows.
    pub parsed: u64,
    /// Newlines among the archived bytes.
    pub newline_count: i64,
    /// Blank lines.
    pub blank_line_count: i64,
}

/// A chunk of a file and the rows of the lines that end in it.
pub struct Batch<'a> {
    /// The file.
    pub file: Arc<FileVersion>,
    /// What the archive gets; nothing when the rows are made from the archive.
    pub chunk: Option<Chunk>,
    /// The rows.
    pub rows: Rows<'a>,
    /// Up to where the file has become rows, if this batch moved it.
    pub parsed: Option<u64>,
    /// Up to where the file is archived.
    pub end: u64,
    /// Whether the file ends here.
    pub is_last: bool,
}

/// What a run wrote.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    /// Bytes archived.
    pub bytes: u64,
    /// Lines, those not yet finished included.
    pub lines: i64,
    /// Messages.
    pub messages: i64,
    /// Further lines of messages.
    pub copies: i64,
    /// Records without a uuid, history lines included.
    pub events: i64,
    /// Fragments that are no record.
    pub rejected: i64,
    /// The first of them: file, line and reason.
    pub rejected_examples: Vec<String>,
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Loaded {
    /// Its rows are written.
    Written,
    /// Somebody else has written to the file since it was looked at: nothing was done, and its further batches are void.
    Overtaken,
}

/// What takes batches in their order.
pub trait Load {
    /// Loads a batch. It is permanent after the next commit. The rows of the batch may be left empty.
    fn load(&mut self, batch: &mut Batch<'_>) -> Result<Loaded>;

    /// Makes what was loaded permanent, if that is possible before the end.
    fn commit(&mut self) -> Result<()>;
}

impl Batch<'_> {
    /// The same, borrowing nothing.
    pub fn into_owned(self) -> Batch<'static> {
        Batch {
            file: self.file,
            chunk: self.chunk,
            rows: self.rows.into_owned(),
            parsed: self.parsed,
            end: self.end,
            is_last: self.is_last,
        }
    }
}

impl Counts {
    /// Counts a fragment that is no record.
    pub fn reject(&mut self, path: &str, line: &RejectedLine) {
        self.rejected += 1;
        if self.rejected_examples.len() < REJECTED_EXAMPLES {
            let (number, length, reason) = (line.line_number, line.raw.len(), line.reason);
            let example = format!("{path}:{number}: {length} bytes rejected: {reason}");
            self.rejected_examples.push(example);
        }
    }
}

impl FileVersion {
    /// Whether another version of the file was read before.
    pub fn is_rewrite(&self) -> bool {
        self.file_id.is_none() && self.generation > 1
    }
}

/// At most this many rejected fragments are named one by one; all of them are in the table.
const REJECTED_EXAMPLES: usize = 10;

/// Loads batches into a store.
pub struct Loader<S> {
    store: S,
    /// Machine id and folder of each home.
    sources: HashMap<i64, (String, String)>,
    /// The greatest keys so far.
    keys: LastKeys,
    /// The file whose batches arrive.
    file: Option<OpenFile>,
    /// The files since the last commit.
    file_keys: HashMap<i64, FileKey>,
    buffers: Buffers<'static>,
    deferred: Deferred,
    commit: commit::State,
    /// What was written so far.
    pub counts: Counts,
    /// Scripts that failed: what they derive is not up to date.
    pub failures: Vec<Problem>,
}

/// Rows that are not inserted yet since more lines may belong to them. Most of these follow in the same chunk, so that the
/// rows borrow from it.
#[derive(Default)]
struct Buffers<'a> {
    responses: OpenResponses<'a>,
    calls: WaitingCalls<'a>,
}

impl Buffers<'_> {
    /// The same, borrowing nothing.
    fn into_owned(self) -> Buffers<'static> {
        Buffers {
            responses: self.responses.into_owned(),
            calls: self.calls.into_owned(),
        }
    }
}

impl Loader<Pages> {
    /// A loader for a new database that has nothing but its homes.
    pub fn create(connection: Connection, path: &Path) -> Result<Self> {
        let sources = read_sources(&connection)?;
        Ok(Loader::with(Pages::new(connection, path)?, sources))
    }

    /// Completes the file, so that it is a database again. What was deferred is left to a loader of its connection.
    pub fn finish_pages(mut self, pipeline: &Pipeline) -> Result<Written> {
        self.close_file()?;
        self.flush_responses()?;
        self.store.finish(pipeline)?;
        Ok(Written {
            keys: self.keys,
            deferred: self.deferred,
            counts: self.counts,
        })
    }
}

impl Load for Loader<Pages> {
    fn load(&mut self, batch: &mut Batch<'_>) -> Result<Loaded> {
        self.load_batch(batch)
    }

    /// Nothing of a new database is permanent before all of it is.
    fn commit(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Load for Loader<Statements<'_>> {
    fn load(&mut self, batch: &mut Batch<'_>) -> Result<Loaded> {
        self.load_batch(batch)
    }

    fn commit(&mut self) -> Result<()> {
        self.commit_all()
    }
}

impl<S: Store> Loader<S> {
    fn with(store: S, sources: HashMap<i64, (String, String)>) -> Self {
        Loader {
            store,
            sources,
            keys: LastKeys::default(),
            file: None,
            file_keys: HashMap::default(),
            buffers: Buffers::default(),
            deferred: Deferred::default(),
            commit: commit::State::default(),
            counts: Counts::default(),
            failures: Vec::new(),
        }
    }

    /// Begins a transaction, if none is open.
    pub fn begin(&mut self) -> Result<()> {
        if let Some(keys) = self.store.begin()? {
            // Another program has written: the file that is open may have moved on.
            self.keys = keys;
            self.file = None;
        }
        Ok(())
    }

    fn load_batch(&mut self, batch: &mut Batch<'_>) -> Result<Loaded> {
        self.begin()?;
        if !self.open_file(batch)? {
            return Ok(Loaded::Overtaken);
        }
        let Some(first_line) = self.advance_file(batch)? else {
            self.file = None;
            return Ok(Loaded::Overtaken);
        };
        self.load_rows(&mut batch.rows, first_line)?;
        if batch.is_last {
            self.close_file()?;
        }
        Ok(Loaded::Written)
    }

    fn load_rows(&mut self, rows: &mut Rows<'_>, first_line: i64) -> Result<()> {
        let (file_id, path) = self.open_file_name();
        let mut buffers = std::mem::take(&mut self.buffers);
        for message in &mut rows.messages {
            message.message.file_id = file_id;
            message.message.line_number += first_line;
            self.load_message(message, &mut buffers)?;
        }
        for event in &mut rows.events {
            event.event.file_id = file_id;
            event.event.line_number += first_line;
            self.load_event(event, &mut buffers.responses)?;
        }
        self.insert_finished_responses(&mut buffers.responses)?;
        self.buffers = buffers.into_owned();
        for prompt in &mut rows.history_prompts {
            prompt.prompt.file_id = file_id;
            prompt.prompt.line_number += first_line;
            self.load_history_prompt(prompt)?;
        }
        for document in rows.documents.drain(..) {
            if let Some(session_id) = document.described_session() {
                self.deferred.touch_known_session(Some(session_id));
            }
            document.insert(file_id, &mut self.store)?;
        }
        for line in &mut rows.rejected_lines {
            line.file_id = file_id;
            line.line_number += first_line;
            self.counts.reject(&path, line);
            self.store.insert_last(line)?;
        }
        let (unknown_kinds, file) = (&mut self.deferred.unknown_kinds, &self.file_keys[&file_id]);
        unknown_kinds.add(&rows.unknown_kinds, file_id, file, first_line);
        Ok(())
    }

    fn load_event<'a>(
        &mut self,
        rows: &mut EventRows<'a>,
        responses: &mut OpenResponses<'a>,
    ) -> Result<()> {
        self.keys.event += 1;
        self.counts.events += 1;
        let event = &mut rows.event;
        event.event_id = self.keys.event;
        self.deferred.touch_session(event.session_id.as_deref());
        self.deferred
            .link(std::mem::take(&mut rows.links), event.session_id.as_deref());
        if let Some(usage) = &mut rows.usage {
            usage.line.set_event(event);
            if let Some(agent) = &usage.agent {
                usage.line.agent_run_id = Some(self.agent_run_id(agent)?);
            }
            self.add_usage(usage, None, responses)?;
        }
        for notification in &mut rows.notifications {
            notification.set_event(event);
            self.store.insert(notification)?;
        }
        for backup in &mut rows.file_backups {
            backup.event_id = event.event_id;
            self.store.insert(backup)?;
        }
        // A summary gives its title to the session that holds its leaf.
        if event.kind.as_deref() == Some("summary") {
            self.deferred
                .touch_session_of(event.message_uuid.as_deref());
        }
        self.store.insert_last(event)
    }

    fn load_history_prompt(&mut self, rows: &mut HistoryRows<'_>) -> Result<()> {
        self.keys.history_prompt += 1;
        self.counts.events += 1;
        let prompt = &mut rows.prompt;
        prompt.history_prompt_id = self.keys.history_prompt;
        self.deferred
            .touch_known_session(prompt.session_id.as_deref());
        self.store.insert(prompt)?;
        for pasted in &mut rows.pasted_contents {
            pasted.history_prompt_id = self.keys.history_prompt;
            self.store.insert_last(pasted)?;
        }
        Ok(())
    }
}

/// Machine id and folder of each home.
fn read_sources(connection: &Connection) -> Result<HashMap<i64, (String, String)>> {
    let mut statement = connection.prepare(sql::ALL_SOURCES)?;
    let sources = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(sources.collect::<rusqlite::Result<_>>()?)
}
