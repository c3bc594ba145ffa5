//! Loads rows into tables: the only module that decides whether a row is inserted, replaced or deferred.
//!
//! Batches arrive in the order of their files. Most lines are new: their rows are inserted at once through a store
//! ([`crate::store`]), which is an existing database or a new one. The rest is deferred to the commit, when all rows can be
//! read (`deferred.rs`, `commit.rs`): lines whose uuid or call is already in the database, small tables, and the keys whose
//! rows have to be derived again.
//!
//! | file            | what it decides                                                                         |
//! |-----------------|-----------------------------------------------------------------------------------------|
//! | `files`         | how far a file is archived and parsed; chunks                                           |
//! | `messages`      | the keys of a message; its blocks; which lines are deferred                             |
//! | `calls`         | which result settles a call, how long it took, which file it changed                    |
//! | `responses`     | which line gives the usage of a response, and why the others are not counted            |
//! | `copies`        | which of several lines with one uuid is the message                                     |
//! | `shared_calls`  | which of several messages a call belongs to                                             |
//! | `conflicts`     | loads deferred lines by the rules of the two above                                      |
//! | `deferred`      | the work that is deferred to the commit                                                 |
//! | `commit`        | does the deferred work, runs the derive scripts, commits                                |

mod calls;
mod commit;
mod conflicts;
mod copies;
mod deferred;
mod files;
mod messages;
mod queue;
mod responses;
mod shared_calls;
mod unknown_kinds;

use crate::archive::{Chunk, Hash};
use crate::database::statements as sql;
use crate::discover::{Place, Stat, classify};
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
pub use queue::settle_queues;
pub use responses::judge_touched;

/// A file version and the progress of earlier runs.
#[derive(Debug)]
pub struct FileVersion {
    pub source_id: i64,
    /// Its key, if it is in the database.
    pub file_id: Option<i64>,
    /// Relative to the home.
    pub path: String,
    /// The raw path, if it differs.
    pub path_bytes: Option<Vec<u8>>,
    pub place: Place,
    pub generation: i64,
    /// The stat when it was opened; `None` if its bytes come from the archive of the database itself.
    pub stat: Option<Stat>,
    /// When a sync found it first, and first missed it, if another database knows.
    pub first_seen_at: Option<String>,
    pub missing_since: Option<String>,
    /// Whether it may change without a change of its stat.
    pub is_racy: bool,
    /// Archived bytes.
    pub size: u64,
    /// The running hash of the archived bytes.
    pub archived_hash: Option<Hash>,
    /// Parsed bytes.
    pub parsed: u64,
    /// Newlines among the archived bytes.
    pub newline_count: i64,
    pub blank_line_count: i64,
}

/// A chunk of a file and the rows of the lines that end in it.
pub struct Batch<'a> {
    pub file: Arc<FileVersion>,
    /// The chunk to archive; `None` if the bytes come from the archive.
    pub chunk: Option<Chunk>,
    pub rows: Rows<'a>,
    /// The end of the parsed bytes, if this batch changes it.
    pub parsed: Option<u64>,
    /// The end of the archived bytes.
    pub end: u64,
    /// Whether the file ends here.
    pub is_last: bool,
}

/// The number of rows that a run wrote.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    /// Archived bytes.
    pub bytes: u64,
    /// Lines, incomplete last lines included.
    pub lines: i64,
    pub messages: i64,
    pub copies: i64,
    /// Records without a uuid, history lines included.
    pub events: i64,
    /// Fragments that are not records.
    pub rejected: i64,
    /// The first rejected fragments: file, line and reason.
    pub rejected_examples: Vec<String>,
}

/// The result of loading a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Loaded {
    Written,
    /// Another program has imported the file since it was compared: nothing was written, and the caller must skip the rest of it.
    Overtaken,
}

/// Takes batches in order.
pub trait Load {
    /// Loads a batch. May leave its rows empty.
    fn load(&mut self, batch: &mut Batch<'_>) -> Result<Loaded>;

    /// Commits the loaded batches, if the store supports it before the end.
    fn commit(&mut self) -> Result<()>;
}

impl Batch<'_> {
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
    /// A file of which nothing is archived.
    pub fn new(source_id: i64, path: String, generation: i64) -> FileVersion {
        FileVersion {
            source_id,
            file_id: None,
            place: classify(&path),
            path,
            path_bytes: None,
            generation,
            stat: None,
            first_seen_at: None,
            missing_since: None,
            is_racy: false,
            size: 0,
            archived_hash: None,
            parsed: 0,
            newline_count: 0,
            blank_line_count: 0,
        }
    }

    /// Whether it replaces another version.
    pub fn is_rewrite(&self) -> bool {
        self.file_id.is_none() && self.generation > 1
    }
}

/// At most this many rejected fragments are printed; the table has all.
const REJECTED_EXAMPLES: usize = 10;

/// Loads batches into a store.
pub struct Loader<S> {
    store: S,
    /// Machine id and folder of each home.
    sources: HashMap<i64, (String, String)>,
    /// The largest keys in use.
    keys: LastKeys,
    /// The current file.
    file: Option<OpenFile>,
    /// The files since the last commit.
    file_keys: HashMap<i64, FileKey>,
    buffers: Buffers<'static>,
    deferred: Deferred,
    commit: commit::State,
    pub counts: Counts,
    /// Derive scripts that failed, so their tables are out of date.
    pub failures: Vec<Problem>,
}

/// Rows that later lines may still complete. Most of these lines are in the same chunk, so the rows borrow from it.
#[derive(Default)]
struct Buffers<'a> {
    responses: OpenResponses<'a>,
    calls: WaitingCalls<'a>,
}

impl Buffers<'_> {
    fn into_owned(self) -> Buffers<'static> {
        Buffers {
            responses: self.responses.into_owned(),
            calls: self.calls.into_owned(),
        }
    }
}

impl Loader<Pages> {
    /// A loader for a new database, in which only `sources` has rows.
    pub fn create(connection: Connection, path: &Path) -> Result<Self> {
        let sources = read_sources(&connection)?;
        Ok(Loader::with(Pages::new(connection, path)?, sources))
    }

    /// Completes the database file. [`Loader::resume`] does the deferred work.
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

    /// A new database has a single commit at the end.
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

    /// Begins a transaction unless one is open.
    pub fn begin(&mut self) -> Result<()> {
        if let Some(keys) = self.store.begin()? {
            // Another program has written, maybe to the current file.
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
            self.deferred.touch_session(document.session_id());
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
        // A summary is the title of the session of its leaf message.
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
        self.deferred.touch_session(prompt.session_id.as_deref());
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
