//! Rows -> tables. One writer; everything of a batch is in one transaction.

mod messages;

use super::beside::{self, Filling};
use super::create::{Stage, check_references, create_stage};
use super::insert::Inserter;
use super::known::KnownIds;
use super::responses::NewResponse;
use super::statements as sql;
use super::{refresh, upgrade};
use crate::archive::{self, CHUNK_BYTES, Chunk, Hash};
use crate::discover::{Place, Reading, Stat};
use crate::error::Result;
use crate::pipeline::{Begun, Pipeline};
use crate::rows::{
    Agent, AgentLink, Document, Event, EventRows, HistoryRows, RejectedLine, Row, Rows, UnknownKind,
};
use crate::timestamp;
use foldhash::{HashMap, HashSet};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A version of a file, and how far it has been read before this run.
#[derive(Debug)]
pub struct FileVersion {
    /// The home.
    pub source_id: i64,
    /// Its row, if it has one.
    pub file_id: Option<i64>,
    /// Relative to the home.
    pub path: String,
    /// The path itself when it is not UTF-8.
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
    /// Writes a batch. It is safe after the next [`Load::commit`]. What is left of its rows is the caller's to let go.
    fn load(&mut self, batch: &mut Batch<'_>) -> Result<Loaded>;

    /// Makes what was written permanent.
    fn commit(&mut self) -> Result<()>;

    /// What was written so far.
    fn counts(&self) -> &Counts;
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

/// So many rejected fragments are named one by one; all of them are in the table.
const REJECTED_EXAMPLES: usize = 10;

/// Writes batches in their order.
pub struct Loader<'c> {
    pub(super) connection: &'c Connection,
    transaction: Option<Transaction<'c>>,
    /// Whether foreign keys are off, to be checked at the end.
    pub(super) is_unchecked: bool,
    /// Whether prices, words and views are those of this program.
    is_refreshed: bool,
    /// Changes when another connection writes.
    data_version: i64,
    pub(super) inserter: Inserter<'c>,
    archive: archive::Reader,
    file: Option<OpenFile>,
    last_message_id: i64,
    last_block_id: i64,
    last_event_id: i64,
    last_result_id: i64,
    last_history_id: i64,
    last_response_id: i64,
    known_messages: KnownIds,
    /// Whether there is no other message.
    are_all_known: bool,
    agents: HashMap<Agent<'static>, i64>,
    responses: HashMap<String, i64>,
    /// Those that are not written yet.
    new_responses: BTreeMap<i64, NewResponse<'static>>,
    named_models: HashSet<String>,
    /// Calls without an answer.
    open_calls: HashMap<String, OpenCall>,
    pub(super) touched_sessions: HashSet<String>,
    pub(super) touched_responses: HashSet<i64>,
    pub(super) touched_tool_uses: HashSet<String>,
    /// Calls that are settled, but for what they changed.
    pub(super) touched_changes: HashSet<String>,
    /// The path of a new database that others may read, and then those that check its references.
    shared: Option<(PathBuf, &'c Pipeline)>,
    checking: Option<Begun<Result<()>>>,
    /// What was written so far.
    pub counts: Counts,
}

/// The file whose batches are being written, and how far they are.
struct OpenFile {
    version: Arc<FileVersion>,
    file_id: i64,
    archived: u64,
    archived_hash: Option<Hash>,
    parsed: u64,
    newline_count: i64,
    blank_line_count: i64,
    /// Whether an earlier run read a part of it, whose incomplete end was not taken back yet.
    is_continued: bool,
}

/// A call that waits for its answer.
struct OpenCall {
    /// When it was made, in milliseconds since 1970.
    time: i64,
    /// Whether it changes a file.
    is_change: bool,
}

impl<'c> Loader<'c> {
    /// A loader for a connection.
    pub fn new(connection: &'c Connection) -> Result<Self> {
        let mut loader = Loader::unread(connection);
        loader.data_version = loader.read_data_version()?;
        loader.read_keys()?;
        Ok(loader)
    }

    fn unread(connection: &'c Connection) -> Self {
        Loader {
            connection,
            transaction: None,
            is_unchecked: false,
            is_refreshed: false,
            data_version: 0,
            inserter: Inserter::new(connection),
            archive: archive::Reader::default(),
            file: None,
            last_message_id: 0,
            last_block_id: 0,
            last_event_id: 0,
            last_result_id: 0,
            last_history_id: 0,
            last_response_id: 0,
            known_messages: KnownIds::default(),
            are_all_known: false,
            agents: HashMap::default(),
            responses: HashMap::default(),
            new_responses: BTreeMap::new(),
            named_models: HashSet::default(),
            open_calls: HashMap::default(),
            touched_sessions: HashSet::default(),
            touched_responses: HashSet::default(),
            touched_tool_uses: HashSet::default(),
            touched_changes: HashSet::default(),
            shared: None,
            checking: None,
            counts: Counts::default(),
        }
    }

    /// A loader for a database whose derived tables are to be filled anew: it begins by emptying them.
    pub fn empty(connection: &'c Connection) -> Result<Self> {
        let mut loader = Loader::new(connection)?;
        loader.begin()?;
        connection.execute_batch(sql::DELETE_DERIVED)?;
        // Keys begin anew, as in a first sync.
        loader.read_keys()?;
        Ok(loader)
    }

    /// A loader for a database of an older schema, whose derived tables are to be filled anew: it begins by putting those
    /// of this schema in their place. Foreign keys must be off.
    pub fn upgrade(connection: &'c Connection) -> Result<Self> {
        let mut loader = Loader::unread(connection);
        loader.data_version = loader.read_data_version()?;
        loader.begin()?;
        upgrade::replace_tables(connection)?;
        create_stage(connection, Stage::Empty)?;
        loader.read_keys()?;
        connection.execute_batch(sql::DELETE_DERIVED)?;
        loader.is_unchecked = true;
        Ok(loader)
    }

    /// Begins a transaction, if none is open.
    pub fn begin(&mut self) -> Result<()> {
        if self.transaction.is_none() {
            let transaction =
                Transaction::new_unchecked(self.connection, TransactionBehavior::Immediate)?;
            self.transaction = Some(transaction);
            // The lock keeps other syncs away; on a disk that has no locks, this does.
            let data_version = self.read_data_version()?;
            if data_version != self.data_version {
                self.data_version = data_version;
                self.read_keys()?;
            }
        }
        Ok(())
    }

    fn read_data_version(&self) -> Result<i64> {
        let mut statement = self.connection.prepare_cached("pragma data_version")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// Reads what the loader must know of the rows that are there, and forgets what it knew.
    fn read_keys(&mut self) -> Result<()> {
        self.connection.execute_batch(sql::CREATE_TOUCHED)?;
        [
            self.last_message_id,
            self.last_block_id,
            self.last_event_id,
            self.last_result_id,
            self.last_history_id,
            self.last_response_id,
        ] = self.connection.query_row(sql::LAST_KEYS, [], |row| {
            Ok([
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
            ])
        })?;
        self.known_messages.clear();
        self.are_all_known = self.last_message_id == 0;
        // Of an empty database everything is counted at the end.
        if !self.are_all_known {
            self.connection.execute_batch(sql::NOTE_CHANGES)?;
        }
        self.agents.clear();
        self.responses.clear();
        self.named_models.clear();
        self.open_calls.clear();
        Ok(())
    }

    /// The last commit of a run: brings indexes and what the program has of its own up to date too, so that readers see all
    /// of it or nothing.
    pub fn finish(&mut self) -> Result<()> {
        self.finish_with(|_| Ok(()))
    }

    /// The same, with something to be written in the end.
    pub fn finish_with(&mut self, write: impl FnOnce(&Connection) -> Result<()>) -> Result<()> {
        let is_new = self.transaction.is_some();
        self.begin()?;
        create_stage(self.connection, Stage::Loaded)?;
        self.refresh()?;
        // With nothing new there is nothing to resolve, and no need to look for it.
        if is_new {
            self.resolve()?;
        }
        create_stage(self.connection, Stage::Resolved)?;
        match self.checking.take() {
            Some(checking) => checking.finish()?,
            None if self.is_unchecked => check_references(self.connection)?,
            None => {}
        }
        write(self.connection)?;
        self.end()
    }

    /// Has a part of the work on a new database done beside the rest.
    pub fn share(&mut self, path: &Path, pipeline: &'c Pipeline) {
        self.shared = Some((path.to_path_buf(), pipeline));
    }

    /// Lets others read what a new database has by now.
    fn open_to_others(&mut self) -> Result<()> {
        self.end()?;
        self.connection
            .pragma_update(None, "locking_mode", "normal")?;
        self.connection.pragma_update(None, "journal_mode", "wal")?;
        // Nobody else has written.
        self.data_version = self.read_data_version()?;
        self.begin()
    }

    /// Lets them read what it has since then.
    fn show_to_others(&mut self) -> Result<()> {
        self.end()?;
        self.begin()
    }

    /// Ends the transaction, if one is open.
    fn end(&mut self) -> Result<()> {
        match self.transaction.take() {
            Some(transaction) => Ok(transaction.commit()?),
            None => Ok(()),
        }
    }

    /// Brings prices, words and views up to date, once: what is resolved depends on them.
    fn refresh(&mut self) -> Result<()> {
        if !self.is_refreshed {
            refresh::refresh(self.connection)?;
            self.is_refreshed = true;
        }
        Ok(())
    }

    fn resolve(&mut self) -> Result<()> {
        self.refresh()?;
        self.write_responses()?;
        let mut touch = self.connection.prepare_cached(sql::TOUCH_SESSION)?;
        for session_id in self.touched_sessions.drain() {
            touch.execute([session_id])?;
        }
        let mut touch = self.connection.prepare_cached(sql::TOUCH_RESPONSE)?;
        for response_id in self.touched_responses.drain() {
            touch.execute([response_id])?;
        }
        let mut touch = self.connection.prepare_cached(sql::TOUCH_TOOL_USE)?;
        for tool_use_id in self.touched_tool_uses.drain() {
            touch.execute([tool_use_id])?;
        }
        let mut touch = self.connection.prepare_cached(sql::TOUCH_CHANGE)?;
        for tool_use_id in self.touched_changes.drain() {
            touch.execute([tool_use_id])?;
        }
        super::derive::settle_calls(self.connection)?;
        match self.shared.take() {
            None => {
                super::derive::derive_rest(self.connection)?;
                super::derive::derive_rollups(self.connection, Vec::new())?;
            }
            Some((path, pipeline)) => {
                self.open_to_others()?;
                let tools = Filling::begin(beside::TOOLS, &path, pipeline);
                super::derive::derive_rest(self.connection)?;
                self.show_to_others()?;
                let responses = Filling::begin(beside::RESPONSES, &path, pipeline);
                self.checking = Some(beside::begin_to_check(&path, pipeline));
                super::derive::derive_rollups(self.connection, vec![tools, responses])?;
            }
        }
        self.connection.execute_batch(sql::FORGET_TOUCHED)?;
        self.connection.execute_batch(sql::NOTE_CHANGES)?;
        // Advisors became responses too.
        let mut last = self.connection.prepare_cached(sql::LAST_RESPONSE)?;
        self.last_response_id = last.query_row([], |row| row.get(0))?;
        Ok(())
    }

    /// Makes the outputs of tools searchable too.
    pub fn index_tool_output(&mut self) -> Result<()> {
        self.begin()?;
        if self.connection.execute(sql::INDEX_TOOL_OUTPUT, [])? > 0 {
            self.connection.execute_batch(sql::INDEX_ANEW)?;
        }
        Ok(())
    }

    /// Notes what the file system says of a file that is read to its end.
    pub fn stamp(&mut self, file_id: i64, stat: &Stat, is_racy: bool) -> Result<()> {
        self.begin()?;
        self.connection
            .prepare_cached(sql::STAMP_FILE)?
            .execute(params![
                file_id,
                stat.modified_ns,
                stat.changed_ns,
                stat.device,
                stat.inode,
                is_racy,
            ])?;
        Ok(())
    }

    /// Notes that a file is gone.
    pub fn mark_missing(&mut self, file_id: i64) -> Result<()> {
        self.begin()?;
        self.connection
            .prepare_cached(sql::MARK_MISSING)?
            .execute(params![file_id, timestamp::now()])?;
        Ok(())
    }

    /// The file of a batch: the one that is open, or the next. Nothing if it is no longer as it was found.
    fn open(&mut self, version: &Arc<FileVersion>) -> Result<Option<OpenFile>> {
        if let Some(file) = self.file.take()
            && Arc::ptr_eq(&file.version, version)
        {
            let (archived, hash) = (file.archived, file.archived_hash);
            let is_same = self.is_archived(version, file.file_id, archived, hash)?;
            return Ok(is_same.then_some(file));
        }
        let file_id = match version.file_id {
            Some(file_id) => {
                if !self.is_archived(version, file_id, version.size, version.archived_hash)? {
                    return Ok(None);
                }
                file_id
            }
            None => match self.insert_file(version)? {
                Some(file_id) => file_id,
                None => return Ok(None),
            },
        };
        // Whose file it is depends on it even when no line of it says so: its project, the session before it, its agents.
        self.touch_known_session(version.place.session_id.as_deref())?;
        Ok(Some(OpenFile {
            version: version.clone(),
            file_id,
            archived: version.size,
            archived_hash: version.archived_hash,
            parsed: version.parsed,
            newline_count: version.newline_count,
            blank_line_count: version.blank_line_count,
            is_continued: version.file_id.is_some(),
        }))
    }

    /// Whether these bytes of a file are archived, and no more. What comes from the archive itself is in one transaction
    /// with it.
    fn is_archived(
        &self,
        version: &FileVersion,
        file_id: i64,
        bytes: u64,
        hash: Option<Hash>,
    ) -> Result<bool> {
        if version.stat.is_none() {
            return Ok(true);
        }
        let mut statement = self.connection.prepare_cached(sql::FIND_ARCHIVED_BYTES)?;
        let archived: (i64, Option<Hash>) =
            statement.query_row([file_id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(archived == (bytes.cast_signed(), hash))
    }

    /// Takes back what was said of a file that has grown since: its incomplete last line, or all of a document.
    fn forget_unfinished(&mut self, file_id: i64, reading: Reading) -> Result<()> {
        match reading {
            Reading::Lines => {
                self.connection
                    .prepare_cached(sql::DELETE_INCOMPLETE_TAIL)?
                    .execute([file_id])?;
            }
            Reading::Whole => {
                self.inserter.delete_of_file(RejectedLine::TABLE, file_id)?;
                for table in Document::TABLES {
                    self.inserter.delete_of_file(table, file_id)?;
                }
            }
            Reading::Archive | Reading::Count => {}
        }
        Ok(())
    }

    /// Notes a file that is not opened.
    pub fn count(&mut self, version: &FileVersion) -> Result<()> {
        self.begin()?;
        let file_id = match version.file_id {
            Some(file_id) => Some(file_id),
            None => self.insert_file(version)?,
        };
        if let (Some(file_id), Some(stat)) = (file_id, &version.stat) {
            let size = stat.size.cast_signed();
            self.connection
                .prepare_cached(sql::COUNT_FILE)?
                .execute(params![file_id, size])?;
            self.stamp(file_id, stat, version.is_racy)?;
        }
        Ok(())
    }

    /// Adds a version of a file; nothing if it is there already.
    fn insert_file(&mut self, version: &FileVersion) -> Result<Option<i64>> {
        let project_id: Option<i64> = match &version.place.directory_name {
            Some(name) => {
                let mut statement = self.connection.prepare_cached(sql::UPSERT_PROJECT)?;
                Some(statement.query_row([name], |row| row.get(0))?)
            }
            None => None,
        };
        let inserted = self
            .connection
            .prepare_cached(sql::INSERT_FILE)?
            .execute(params![
                version.source_id,
                project_id,
                version.path,
                version.path_bytes,
                version.place.kind.name(),
                version.place.session_id,
                version.generation,
                timestamp::now(),
            ])?;
        if inserted == 0 {
            return Ok(None);
        }
        let file_id = self.connection.last_insert_rowid();
        self.connection
            .prepare_cached(sql::RETIRE_FILE_VERSIONS)?
            .execute(params![version.source_id, version.path, file_id])?;
        Ok(Some(file_id))
    }

    /// Writes a chunk. Returns false, having done nothing, if it does not begin with the bytes of the one in its place.
    fn write_chunk(&mut self, file_id: i64, chunk: &Chunk) -> Result<bool> {
        // What the reader keeps of the file's last chunk is shorter now.
        self.archive = archive::Reader::default();
        let written = self
            .connection
            .prepare_cached(sql::UPSERT_CHUNK)?
            .execute(params![
                file_id,
                chunk.position.cast_signed(),
                (chunk.position * CHUNK_BYTES).cast_signed(),
                chunk.byte_length.cast_signed(),
                chunk.content,
                chunk.hash,
                chunk.known_hash,
            ])?;
        if written > 0 {
            self.counts.bytes += chunk.new_bytes;
        }
        Ok(written > 0)
    }

    fn write_rows(
        &mut self,
        rows: Rows<'_>,
        file_id: i64,
        path: &str,
        first_line: i64,
    ) -> Result<()> {
        for mut message in rows.messages {
            message.message.file_id = file_id;
            message.message.line_number += first_line;
            self.write_message(message)?;
        }
        for mut event in rows.events {
            event.event.file_id = file_id;
            event.event.line_number += first_line;
            self.write_event(event)?;
        }
        for HistoryRows {
            mut prompt,
            pasted_contents,
        } in rows.history_prompts
        {
            self.last_history_id += 1;
            prompt.history_prompt_id = self.last_history_id;
            prompt.file_id = file_id;
            prompt.line_number += first_line;
            self.inserter.insert(&prompt)?;
            self.touch_known_session(prompt.session_id.as_deref())?;
            for mut pasted in pasted_contents {
                pasted.history_prompt_id = prompt.history_prompt_id;
                self.inserter.insert(&pasted)?;
            }
            self.counts.events += 1;
        }
        for document in rows.documents {
            if let Document::SessionHint(hint) = &document {
                self.touch_known_session(hint.session_id.as_deref())?;
            }
            document.insert(file_id, &mut &self.inserter)?;
        }
        for mut line in rows.rejected_lines {
            line.file_id = file_id;
            line.line_number += first_line;
            self.counts.reject(path, &line);
            self.inserter.insert_last(line)?;
        }
        let mut unknown_kinds = UnknownKinds::default();
        unknown_kinds.add(&rows.unknown_kinds, file_id, path, first_line);
        self.write_unknown_kinds(&unknown_kinds)
    }

    fn touch_session(&mut self, session_id: Option<&str>) {
        if let Some(session_id) = session_id
            && !self.touched_sessions.contains(session_id)
        {
            self.touched_sessions.insert(session_id.to_string());
        }
    }

    /// Looks at a session again, if it is one that lines name.
    fn touch_known_session(&self, session_id: Option<&str>) -> Result<()> {
        if let Some(session_id) = session_id {
            self.connection
                .prepare_cached(sql::TOUCH_KNOWN_SESSION)?
                .execute([session_id])?;
        }
        Ok(())
    }

    fn write_links(&mut self, links: &[AgentLink], session_id: Option<&str>) -> Result<()> {
        let Some(session_id) = session_id else {
            return Ok(());
        };
        for link in links {
            self.inserter.insert(&AgentLink {
                session_id: session_id.to_string(),
                ..link.clone()
            })?;
        }
        Ok(())
    }

    fn write_event(&mut self, mut rows: EventRows<'_>) -> Result<()> {
        self.last_event_id += 1;
        self.counts.events += 1;
        let event = &mut rows.event;
        event.event_id = self.last_event_id;
        self.touch_session(event.session_id.as_deref());
        self.insert_event(event)?;
        for mut backup in rows.file_backups {
            backup.event_id = event.event_id;
            self.inserter.insert(&backup)?;
        }
        self.write_links(&rows.links, event.session_id.as_deref())?;
        for mut notification in rows.notifications {
            notification.queue(event);
            self.inserter.insert(&notification)?;
        }
        // A summary gives its title to the session that holds its leaf. If that comes later, it brings itself up.
        if event.kind.as_deref() == Some("summary")
            && let Some(leaf) = self.message_id(event.message_uuid.as_deref())?
        {
            self.connection
                .prepare_cached(sql::TOUCH_SESSION_OF_MESSAGE)?
                .execute([leaf])?;
        }
        Ok(())
    }

    /// Inserts an event, of which the payload is not needed any more.
    fn insert_event(&self, event: &mut Event<'_>) -> Result<usize> {
        if !is_long(Some(&event.payload_json)) {
            return self.inserter.insert(event);
        }
        let payload_json = std::mem::take(&mut event.payload_json);
        self.inserter.insert_last(Event {
            payload_json,
            ..event.clone()
        })
    }

    /// Writes what is not known, beside what other lines told of it.
    pub(super) fn write_unknown_kinds(&mut self, found: &UnknownKinds) -> Result<()> {
        for ((level, name), kind) in &found.kinds {
            let known: Option<(Option<String>, String, i64)> = self
                .connection
                .prepare_cached(sql::FIND_UNKNOWN_KIND)?
                .query_row([*level, name.as_str()], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })
                .optional()?;
            let known_version = known
                .as_ref()
                .and_then(|(version, _, _)| version.as_deref());
            let version = lower_version(known_version, kind.version.as_deref());
            let (file_id, line_number) = (kind.file_id, kind.line_number);
            self.connection
                .prepare_cached(sql::UPSERT_UNKNOWN_KIND)?
                .execute(params![
                    level,
                    name,
                    version,
                    kind.count,
                    file_id,
                    line_number
                ])?;
            if known.is_some_and(|(_, path, line)| (&kind.path, line_number) < (&path, line)) {
                self.connection
                    .prepare_cached(sql::MOVE_UNKNOWN_KIND_EXAMPLE)?
                    .execute(params![level, name, file_id, line_number])?;
            }
        }
        Ok(())
    }
}

impl Load for Loader<'_> {
    fn load(&mut self, batch: &mut Batch<'_>) -> Result<Loaded> {
        self.begin()?;
        let Some(mut file) = self.open(&batch.file)? else {
            return Ok(Loaded::Overtaken);
        };
        if let Some(chunk) = &batch.chunk {
            if !self.write_chunk(file.file_id, chunk)? {
                return Ok(Loaded::Overtaken);
            }
            file.archived_hash = Some(chunk.running_hash);
        }
        if file.is_continued {
            self.forget_unfinished(file.file_id, batch.file.place.reading)?;
            file.is_continued = false;
        }
        file.archived = batch.end;
        let first_line = file.newline_count + 1;
        file.newline_count += batch.rows.newline_count;
        file.blank_line_count += batch.rows.blank_line_count;
        file.parsed = batch.parsed.unwrap_or(file.parsed);
        let line_count = file.newline_count + i64::from(batch.rows.has_tail);
        self.counts.lines += batch.rows.newline_count + i64::from(batch.rows.has_tail);
        let rows = std::mem::take(&mut batch.rows);
        self.write_rows(rows, file.file_id, &batch.file.path, first_line)?;
        self.connection
            .prepare_cached(sql::ADVANCE_FILE)?
            .execute(params![
                file.file_id,
                batch.end.cast_signed(),
                file.parsed.cast_signed(),
                line_count,
                file.newline_count,
                file.blank_line_count,
                batch.chunk.as_ref().map(|_| timestamp::now()),
                file.archived_hash,
            ])?;
        match &batch.file.stat {
            Some(stat) if batch.is_last => {
                self.stamp(file.file_id, stat, batch.file.is_racy)?;
            }
            _ if batch.is_last => {}
            _ => self.file = Some(file),
        }
        Ok(Loaded::Written)
    }

    /// Resolves what depends on the rows written so far, and makes all of it permanent.
    fn commit(&mut self) -> Result<()> {
        let Some(transaction) = self.transaction.take() else {
            return Ok(());
        };
        self.resolve()?;
        transaction.commit()?;
        Ok(())
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }
}

/// Names that this version does not know, each with an example: the first by path and line.
#[derive(Default)]
pub struct UnknownKinds {
    kinds: BTreeMap<(&'static str, String), FoundKind>,
}

struct FoundKind {
    count: i64,
    version: Option<String>,
    path: String,
    file_id: i64,
    line_number: i64,
}

impl UnknownKinds {
    /// Adds what was found in lines of a file.
    pub fn add(&mut self, found: &[UnknownKind], file_id: i64, path: &str, first_line: i64) {
        for kind in found {
            let line_number = kind.line_number + first_line;
            let known = self
                .kinds
                .entry((kind.level, kind.name.clone()))
                .or_insert_with(|| FoundKind {
                    count: 0,
                    version: None,
                    path: path.to_string(),
                    file_id,
                    line_number,
                });
            known.count += 1;
            let version = lower_version(known.version.as_deref(), kind.version.as_deref());
            known.version = version.map(str::to_string);
            if (path, line_number) < (known.path.as_str(), known.line_number) {
                known.path = path.to_string();
                known.file_id = file_id;
                known.line_number = line_number;
            }
        }
    }
}

/// Whether a text is so long that it is worth some work not to hold it more often than need be.
fn is_long(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.len() > 1 << 20)
}

/// The lower of two version numbers.
fn lower_version<'a>(a: Option<&'a str>, b: Option<&'a str>) -> Option<&'a str> {
    fn key(version: &str) -> (Vec<u64>, &str) {
        let parts = version
            .split('.')
            .map(|part| part.parse().unwrap_or(0))
            .collect();
        (parts, version)
    }
    match (a, b) {
        (Some(a), Some(b)) => Some(if key(a) <= key(b) { a } else { b }),
        (a, b) => a.or(b),
    }
}
