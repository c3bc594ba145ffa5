//! Records -> rows. Only this module interprets records, and only it knows both Claude's field names and our column names.
//! Its functions are pure: the rows of a line depend on the line and the path of its file alone.

mod agent_link;
mod attachment;
mod change;
mod content;
mod copy;
mod document;
mod event;
mod extra;
mod history;
mod machine_prompt;
mod message;
mod notification;
mod outcome;
mod progress;
mod prompt;
mod session_index;
mod statistics;
mod tool_call;
mod tool_result;
mod truncate;
mod unknown;
mod usage;

use crate::decode::{Piece, Reason, decode, is_blank};
use crate::discover::{Kind, Place};
use crate::read::{Line, Section};
use crate::record::{Record, object, parse_object};
use crate::rows::{RejectedLine, Rows};
use bumpalo::Bump;
use std::borrow::Cow;

pub use copy::copy_json;
pub use document::normalize_document;
pub use tool_call::{call_from_json, call_to_json};

/// The rows of a section, and the offset up to which the file is now parsed.
///
/// Line numbers start at 0 in the section: only the loader knows how many lines precede it.
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

/// Adds the rows of a line. Returns how many of its bytes were consumed.
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
            .push(history::history_prompt(json, position, unknown));
    } else if record.is_chain() {
        rows.messages
            .push(message::message(record, position, place, unknown));
    } else {
        rows.events
            .push(event::event(record, json, position, place, unknown));
    }
}

/// The position of a record in its file.
#[derive(Clone, Copy)]
struct Position {
    line_number: i64,
    byte_offset: i64,
    byte_length: i64,
}

object! {
    /// A JSON object without known keys.
    pub struct Entries {}
}

/// The keys and values of a JSON object.
fn entries(json: &str) -> Vec<(Cow<'_, str>, &str)> {
    let object: Entries = parse_object(json).unwrap_or_default();
    let entries = object.rest.into_iter();
    let entries = entries.filter_map(|(key, value)| Some((key, value.raw()?.get())));
    entries.collect()
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
    fn a_repaired_line_has_the_rows_of_a_valid_one() {
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
