//! The row of the current file: opened with its first batch, advanced by each, and saved at every commit and at the end.

use super::copies::FileKey;
use super::{Batch, FileVersion, Loader};
use crate::archive::CHUNK_BYTES;
use crate::database::statements as sql;
use crate::discover::{Kind, Reading, Stat};
use crate::error::Result;
use crate::rows::{ArchiveChunk, Document, File, RejectedLine, Row as _};
use crate::store::Store;
use crate::timestamp;
use std::sync::Arc;

/// The current file.
pub struct OpenFile {
    version: Arc<FileVersion>,
    row: File,
    /// Whether the rows of its end, from an earlier run, have to be deleted.
    is_continued: bool,
    /// Whether this run archived bytes of it.
    is_read: bool,
    /// Whether the end was read.
    is_stamped: bool,
}

/// The columns that a batch changes.
const PROGRESS: &[&str] = &[
    "size_bytes",
    "archived_bytes",
    "parsed_bytes",
    "line_count",
    "newline_count",
    "blank_line_count",
];

/// The columns that the end of the file changes.
const STAMP: &[&str] = &[
    "modified_ns",
    "changed_ns",
    "device",
    "inode",
    "is_racy",
    "missing_since",
];

impl OpenFile {
    /// The columns to update.
    fn changed(&self) -> Vec<&'static str> {
        let mut columns = PROGRESS.to_vec();
        if self.is_read {
            columns.extend(["archived_hash", "last_synced_at"]);
        }
        if self.is_stamped {
            columns.extend(STAMP);
        }
        columns
    }

    pub fn file_id(&self) -> i64 {
        self.row.file_id
    }

    /// The session, if it is a session's own file.
    pub fn host(&self) -> Option<&str> {
        let is_session = self.row.kind == Kind::Session.name();
        self.row.session_id.as_deref().filter(|_| is_session)
    }
}

impl<S: Store> Loader<S> {
    /// Makes the file of a batch the current one. Returns false if another program has imported it since it was compared.
    pub(super) fn open_file(&mut self, batch: &Batch<'_>) -> Result<bool> {
        let version = &batch.file;
        if let Some(file) = &self.file
            && Arc::ptr_eq(&file.version, version)
        {
            return Ok(true);
        }
        self.close_file()?;
        if !self.store.is_as_found(version)? {
            return Ok(false);
        }
        let row = self.file_row(version)?;
        // The session of the file depends on it even if no line names the session: its project, the resumed session, its agents.
        // A document that became invalid has no rows, but its session stays.
        let session_id = version.place.session_id.as_deref();
        match version.place.kind.is_of_session() {
            true => self.deferred.touch_session(session_id),
            false => self.deferred.touch_known_session(session_id),
        }
        self.file = Some(OpenFile {
            version: version.clone(),
            row,
            is_continued: version.file_id.is_some(),
            is_read: false,
            is_stamped: false,
        });
        Ok(true)
    }

    fn file_row(&mut self, version: &FileVersion) -> Result<File> {
        let place = &version.place;
        let project_id = match &place.directory_name {
            Some(name) => Some(self.project_key(name)?),
            None => None,
        };
        let file_id = match version.file_id {
            Some(file_id) => file_id,
            None => {
                self.keys.file += 1;
                self.keys.file
            }
        };
        if version.is_rewrite() {
            self.deferred.generations.push(file_id);
        }
        let (machine_id, root_path) = self.sources[&version.source_id].clone();
        let key = FileKey {
            path: version.path.clone(),
            machine_id,
            root_path,
            generation: version.generation,
        };
        self.file_keys.insert(file_id, key);
        let now = timestamp::now();
        Ok(File {
            file_id,
            source_id: version.source_id,
            project_id,
            path: version.path.clone(),
            path_bytes: version.path_bytes.clone(),
            kind: place.kind.name(),
            session_id: place.session_id.clone(),
            generation: version.generation,
            size_bytes: version.size.cast_signed(),
            archived_bytes: version.size.cast_signed(),
            archived_hash: version.archived_hash,
            parsed_bytes: version.parsed.cast_signed(),
            newline_count: version.newline_count,
            blank_line_count: version.blank_line_count,
            is_racy: true,
            is_current: true,
            first_seen_at: version.first_seen_at.clone().unwrap_or_else(|| now.clone()),
            last_synced_at: now,
            missing_since: version.missing_since.clone(),
            ..File::default()
        })
    }

    /// Archives the chunk of a batch and advances the current file. Returns the number of its first line, or `None` if the chunk
    /// does not continue the archived bytes.
    pub(super) fn advance_file(&mut self, batch: &mut Batch<'_>) -> Result<Option<i64>> {
        let file = self.file.as_mut().expect("it was opened");
        if let Some(chunk) = batch.chunk.take() {
            let row = ArchiveChunk {
                file_id: file.row.file_id,
                position: chunk.position.cast_signed(),
                byte_offset: (chunk.position * CHUNK_BYTES).cast_signed(),
                byte_length: chunk.byte_length.cast_signed(),
                content: chunk.content,
                content_hash: chunk.hash,
            };
            if !self.store.save_chunk(&row, chunk.known_hash)? {
                return Ok(None);
            }
            file.is_read = true;
            file.row.archived_hash = Some(chunk.running_hash);
            self.counts.bytes += chunk.new_bytes;
        }
        if std::mem::take(&mut file.is_continued) {
            let statements = taken_back(batch.file.place.reading);
            let take_back = |statement: String| self.store.take_back(&statement, file.row.file_id);
            statements.into_iter().try_for_each(take_back)?;
        }
        let first_line = file.row.newline_count + 1;
        let has_tail = i64::from(batch.rows.has_tail);
        let row = &mut file.row;
        row.size_bytes = batch.end.cast_signed();
        row.archived_bytes = row.size_bytes;
        row.parsed_bytes = batch.parsed.map_or(row.parsed_bytes, u64::cast_signed);
        row.newline_count += batch.rows.newline_count;
        row.blank_line_count += batch.rows.blank_line_count;
        row.line_count = row.newline_count + has_tail;
        self.counts.lines += batch.rows.newline_count + has_tail;
        if let (Some(stat), true) = (&batch.file.stat, batch.is_last) {
            stamp(&mut file.row, stat, file.version.is_racy);
            file.is_stamped = true;
        }
        Ok(Some(first_line))
    }

    /// The key and the path of the current file.
    pub(super) fn open_file_name(&self) -> (i64, String) {
        let file = &self.file.as_ref().expect("it was opened").row;
        (file.file_id, file.path.clone())
    }

    /// Saves the row of the current file, and the buffered calls.
    pub fn close_file(&mut self) -> Result<()> {
        self.save_file()?;
        self.file = None;
        self.flush_calls()
    }

    /// Saves the row of the current file.
    pub(super) fn save_file(&mut self) -> Result<()> {
        match &self.file {
            Some(file) => self.store.save_file(&file.row, &file.changed()),
            None => Ok(()),
        }
    }

    /// Records the size of a file that is not read.
    pub fn count_file(&mut self, version: &FileVersion) -> Result<()> {
        self.begin()?;
        if !self.store.is_as_found(version)? {
            return Ok(());
        }
        let mut row = self.file_row(version)?;
        if let Some(stat) = &version.stat {
            row.size_bytes = stat.size.cast_signed();
            stamp(&mut row, stat, version.is_racy);
        }
        self.store.save_file(&row, &[PROGRESS, STAMP].concat())
    }
}

/// Sets the stat of a file whose end was read.
fn stamp(row: &mut File, stat: &Stat, is_racy: bool) {
    row.modified_ns = stat.modified_ns;
    row.changed_ns = stat.changed_ns;
    row.device = stat.device;
    row.inode = stat.inode;
    row.is_racy = is_racy;
}

/// The statements that delete outdated rows of a file that has grown: its incomplete last line, or all rows of a document.
fn taken_back(reading: Reading) -> Vec<String> {
    match reading {
        Reading::Lines => vec![sql::DELETE_INCOMPLETE_TAIL.to_string()],
        Reading::Whole => (Document::TABLES.iter())
            .chain(&[RejectedLine::TABLE])
            .map(|table| format!("delete from {table} where file_id = ?1"))
            .collect(),
        Reading::Archive | Reading::Count => Vec::new(),
    }
}
