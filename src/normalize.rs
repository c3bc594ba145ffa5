//! Records -> rows: the only place that gives meaning, and the only one that knows both Claude's field names and our
//! column names. Pure: what a line becomes depends on the line and on the path of its file.

mod agent_link;
mod beginning;
mod change;
mod content;
mod document;
mod event;
mod extra;
mod message;
mod notification;
mod outcome;
mod prompt;
mod tool;
mod unknown;
mod usage;

use crate::decode::{Piece, Reason, decode, is_blank};
use crate::discover::{Kind, Place};
use crate::read::{Line, Section};
use crate::record::Record;
use crate::rows::{RejectedLine, Rows};
use bumpalo::Bump;

pub use document::normalize_document;
pub use message::copy_json;
pub use tool::{call_from_json, call_to_json};

/// The rows of a section, and up to where the file has become rows.
///
/// Lines are numbered from 0 within the section; only the loader knows how many there are before it.
pub fn normalize<'a>(
    section: &'a Section,
    place: &'a Place,
    arena: Option<&'a Bump>,
) -> (Rows<'a>, Option<u64>) {
    let mut rows = Rows::default();
    let mut parsed = None;
    for line in section.lines(arena) {
        let used = normalize_line(&line, rows.newline_count, place, &mut rows);
        if line.is_complete {
            parsed = Some(line.offset + line.bytes.len() as u64 + 1);
            rows.newline_count += 1;
            if is_blank(line.bytes) && !line.is_continued {
                rows.blank_line_count += 1;
            }
        } else {
            rows.has_tail = line.is_continued || !is_blank(line.bytes);
            if used > 0 {
                parsed = Some(line.offset + used as u64);
            }
        }
    }
    (rows, parsed)
}

/// Adds the rows of a line. Returns how many of its bytes became rows.
pub fn normalize_line<'a>(
    line: &Line<'a>,
    line_number: i64,
    place: &'a Place,
    rows: &mut Rows<'a>,
) -> usize {
    let position = |offset, length| Position {
        line_number,
        byte_offset: line.offset as i64 + offset as i64,
        byte_length: length as i64,
    };
    let used = decode(
        line.bytes,
        line.is_complete,
        line.arena,
        &mut |piece| match piece {
            Piece::Record {
                offset,
                length,
                json,
                record,
            } => normalize_record(record, json, position(offset, length), place, rows),
            Piece::Repaired {
                offset,
                length,
                json,
                record,
            } => {
                let mut repaired = Rows::default();
                let position = position(offset, length);
                normalize_record(record, json, position, place, &mut repaired);
                let repaired = repaired.into_owned();
                rows.messages.extend(repaired.messages);
                rows.events.extend(repaired.events);
                rows.history_prompts.extend(repaired.history_prompts);
                rows.unknown_kinds.extend(repaired.unknown_kinds);
            }
            Piece::Rejected {
                offset,
                raw,
                reason,
            } => {
                rows.rejected_lines
                    .push(rejected(line, line_number, offset, raw, reason));
            }
        },
    );
    let rest = &line.bytes[used..];
    if !line.is_complete && !is_blank(rest) {
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let tail = rejected(
            line,
            line_number,
            used + blanks,
            rest.trim_ascii(),
            Reason::IncompleteTail,
        );
        rows.rejected_lines.push(tail);
    }
    used
}

/// Adds the rows of a record.
fn normalize_record<'a>(
    record: &mut Record<'a>,
    json: &'a str,
    position: Position,
    place: &'a Place,
    rows: &mut Rows<'a>,
) {
    let unknown = &mut rows.unknown_kinds;
    if place.kind == Kind::History {
        rows.history_prompts
            .push(event::history_prompt(json, position, unknown));
    } else if record.is_chain() {
        rows.messages
            .push(message::message(record, position, place, unknown));
    } else {
        rows.events
            .push(event::event(record, json, position, place, unknown));
    }
}

/// Where a record stands.
#[derive(Clone, Copy)]
struct Position {
    line_number: i64,
    byte_offset: i64,
    byte_length: i64,
}

fn rejected(
    line: &Line<'_>,
    line_number: i64,
    offset: usize,
    raw: &[u8],
    reason: Reason,
) -> RejectedLine {
    RejectedLine {
        file_id: 0,
        line_number,
        byte_offset: line.offset as i64 + offset as i64,
        reason: reason.name(),
        raw: raw.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::classify;

    #[test]
    fn a_line_whose_escapes_are_repaired_becomes_the_rows_of_one_that_needs_no_repair() {
        let rows_of = |path: &str, text: &str| {
            let json = format!(
                r#"{{"parentUuid":null,"uuid":"u","type":"user","display":"{text}","message":{{"content":"{text}"}}}}"#
            );
            let line = Line {
                offset: 0,
                bytes: json.as_bytes(),
                is_complete: true,
                is_continued: false,
                arena: None,
            };
            let place = classify(path);
            let mut rows = Rows::default();
            normalize_line(&line, 0, &place, &mut rows);
            assert_eq!(rows.messages.len() + rows.history_prompts.len(), 1);
            format!("{rows:?}")
        };
        for path in ["projects/-w/s.jsonl", "history.jsonl"] {
            assert_eq!(rows_of(path, r"a\u0000"), rows_of(path, r"a\ufffd"));
        }
    }
}
