//! Decides which of several lines with one uuid is the message.
//!
//! The rule is a function of the set of lines, so their order does not matter. Each file version has one candidate, its last
//! line. The candidate with the earliest time is the message, then the one with the smallest path.

use super::deferred::DeferredLine;
use crate::archive;
use crate::database::statements as sql;
use crate::discover::classify;
use crate::error::{Error, Result};
use crate::normalize::{copy_json, normalize_line};
use crate::rows::{Message, MessageCopy, MessageRows, Rows, Text};
use rusqlite::{Connection, Row};
use std::cmp::Ordering;
use std::io;
use std::path::Path;

/// A line with the uuid of a message.
pub struct Line {
    pub message_id: i64,
    file_id: i64,
    line_number: i64,
    byte_offset: i64,
    byte_length: i64,
    session_id: Option<String>,
    content_hash: Vec<u8>,
    sent_at: Option<String>,
    forked_from_session_id: Option<String>,
    file: FileKey,
}

/// Identifies its file in every database, unlike the key.
#[derive(Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileKey {
    pub path: String,
    pub machine_id: String,
    pub root_path: String,
    pub generation: i64,
}

impl FileKey {
    /// Identifies a file in every database, unlike its key.
    pub fn find(connection: &Connection, file_id: i64) -> Result<FileKey> {
        let mut statement = connection.prepare_cached(sql::FIND_FILE)?;
        Ok(statement.query_row([file_id], |row| {
            Ok(FileKey {
                path: row.get(0)?,
                machine_id: row.get(1)?,
                root_path: row.get(2)?,
                generation: row.get(3)?,
            })
        })?)
    }
}

/// The result of an election.
pub struct Election {
    /// The line that is the message.
    pub winner: Winner,
    /// The rows of `message_copies` to write.
    pub copies: Vec<MessageCopy>,
}

/// The line that is the message.
pub enum Winner {
    /// The previous one.
    Unchanged,
    /// The new line.
    New,
    /// A former copy, whose content is read from the archive.
    Archived(Box<MessageRows<'static>>),
}

impl Line {
    /// The line of a message in the database.
    pub fn of_message(connection: &Connection, message_id: i64) -> Result<Line> {
        let line = connection
            .prepare_cached(sql::FIND_MESSAGE)?
            .query_row([message_id], Line::from_row)?;
        line.with_file(connection)
    }

    /// The line of a new message.
    pub fn of_rows(connection: &Connection, message: &Message<'_>) -> Result<Line> {
        let owned = |text: &Option<Text<'_>>| text.as_deref().map(str::to_string);
        let line = Line {
            message_id: message.message_id,
            file_id: message.file_id,
            line_number: message.line_number,
            byte_offset: message.byte_offset,
            byte_length: message.byte_length,
            session_id: owned(&message.session_id),
            content_hash: message.content_hash.to_vec(),
            sent_at: owned(&message.sent_at),
            forked_from_session_id: owned(&message.forked_from_session_id),
            file: FileKey::default(),
        };
        line.with_file(connection)
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Line> {
        Ok(Line {
            message_id: row.get(0)?,
            file_id: row.get(1)?,
            line_number: row.get(2)?,
            byte_offset: row.get(3)?,
            byte_length: row.get(4)?,
            session_id: row.get(5)?,
            content_hash: row.get(6)?,
            sent_at: row.get(7)?,
            forked_from_session_id: row.get(8)?,
            file: FileKey::default(),
        })
    }

    fn with_file(mut self, connection: &Connection) -> Result<Line> {
        self.file = FileKey::find(connection, self.file_id)?;
        Ok(self)
    }

    /// The order of candidates: the earliest time, then none; then the path.
    fn order(&self, other: &Line) -> Ordering {
        let key = |line: &Line| (line.sent_at.is_none(), line.sent_at.clone());
        key(self)
            .cmp(&key(other))
            .then_with(|| self.file.cmp(&other.file))
    }

    fn copy_of(
        &self,
        winner: &Line,
        connection: &Connection,
        archive: &mut archive::Reader,
    ) -> Result<MessageCopy> {
        let is_agent = classify(&self.file.path).agent_id.is_some();
        let same_home = (&self.file.machine_id, &self.file.root_path)
            == (&winner.file.machine_id, &winner.file.root_path);
        let is_rewrite = same_home && self.file.path == winner.file.path;
        let is_fork = self.forked_from_session_id.is_some();
        let reason = match self.file_id == winner.file_id {
            true => "same_file_replay",
            false => reason_in_other_file(is_rewrite, is_agent, is_fork),
        };
        let is_different = self.content_hash != winner.content_hash;
        let bytes = self.bytes(connection, archive)?;
        Ok(MessageCopy {
            message_id: winner.message_id,
            file_id: self.file_id,
            line_number: self.line_number,
            byte_offset: self.byte_offset,
            byte_length: self.byte_length,
            session_id: self.session_id.clone(),
            reason,
            content_hash: self.content_hash.clone(),
            forked_from_session_id: self.forked_from_session_id.clone(),
            is_different,
            extra_json: copy_json(&bytes, is_different),
            sent_at: self.sent_at.clone(),
        })
    }

    /// Reads its bytes from the archive.
    fn bytes(&self, connection: &Connection, archive: &mut archive::Reader) -> Result<Vec<u8>> {
        let (offset, length) = (
            self.byte_offset.cast_unsigned(),
            self.byte_length.cast_unsigned(),
        );
        archive
            .read(connection, self.file_id, offset, length)
            .map_err(Error::io(&self.file.path))
    }
}

/// Decides between the current message, its copies, and a new line. If another line wins, the copies are deleted and returned
/// to be inserted again.
pub fn elect(
    connection: &Connection,
    archive: &mut archive::Reader,
    current: Line,
    new: Line,
) -> Result<Election> {
    let mut copies = connection
        .prepare_cached(sql::FIND_COPIES)?
        .query_map([current.message_id], Line::from_row)?
        .collect::<rusqlite::Result<Vec<_>>>()?
        .into_iter()
        .map(|line| line.with_file(connection))
        .collect::<Result<Vec<_>>>()?;
    copies.push(new);
    let newest = copies.len();
    let mut lines = vec![current];
    lines.append(&mut copies);
    let winner = winner(&lines);
    if winner == 0 {
        return Ok(Election {
            winner: Winner::Unchanged,
            copies: vec![lines[newest].copy_of(&lines[0], connection, archive)?],
        });
    }
    connection
        .prepare_cached(sql::DELETE_COPIES)?
        .execute([lines[0].message_id])?;
    let winning = &lines[winner];
    let others = lines
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != winner);
    let copies = others.map(|(_, line)| line.copy_of(winning, connection, archive));
    Ok(Election {
        copies: copies.collect::<Result<_>>()?,
        winner: match winner == newest {
            true => Winner::New,
            false => {
                let line = DeferredLine {
                    file_id: winning.file_id,
                    line_number: winning.line_number,
                    byte_offset: winning.byte_offset,
                    byte_length: winning.byte_length,
                };
                let mut rows = line.read(connection, archive)?;
                rows.message.message_id = winning.message_id;
                Winner::Archived(rows)
            }
        },
    })
}

/// Why another file has the line: another generation of the file, a sidechain that repeats its parent conversation, a fork, or
/// else a resumed session.
pub fn reason_in_other_file(is_rewrite: bool, is_sidechain: bool, is_fork: bool) -> &'static str {
    match (is_rewrite, is_sidechain, is_fork) {
        (true, _, _) => "rewritten_file",
        (_, true, _) => "sidechain_replay",
        (_, _, true) => "fork_copy",
        _ => "resume_copy",
    }
}

/// The line number of the message.
fn winner(lines: &[Line]) -> usize {
    let is_last_of_file = |line: &&Line| {
        let same_file = lines.iter().filter(|other| other.file_id == line.file_id);
        same_file.map(|other| other.byte_offset).max() == Some(line.byte_offset)
    };
    let (index, _) = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_last_of_file(line))
        .min_by(|(_, a), (_, b)| a.order(b))
        .expect("every file has a last line");
    index
}

impl DeferredLine {
    /// Reads the message of the line from the archive.
    pub fn read(
        &self,
        connection: &Connection,
        archive: &mut archive::Reader,
    ) -> Result<Box<MessageRows<'static>>> {
        let path = FileKey::find(connection, self.file_id)?.path;
        let (offset, length) = (
            self.byte_offset.cast_unsigned(),
            self.byte_length.cast_unsigned(),
        );
        let bytes = archive
            .read(connection, self.file_id, offset, length)
            .map_err(Error::io(&path))?;
        let whole = crate::read::Line {
            arena: None,
            offset,
            bytes: &bytes,
            is_complete: true,
            is_continued: false,
        };
        let place = classify(&path);
        let mut rows = Rows::default();
        normalize_line(&whole, self.line_number, &place, &mut rows);
        let lost = || {
            let error = io::Error::other("the archive no longer holds the record it held");
            Error::Io(Path::new(&path).to_path_buf(), error)
        };
        let mut rows = rows.messages.pop().ok_or_else(lost)?;
        rows.message.file_id = self.file_id;
        Ok(Box::new(rows.into_owned()))
    }
}
