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
mod queue;
mod session_index;
mod statistics;
mod tool_call;
mod tool_result;
mod truncate;
mod unknown;
mod usage;
mod usage_data;

use crate::decode::{Piece, Reason, decode, is_blank};
use crate::discover::{Kind, Place};
use crate::json::parse_object;
use crate::read::{Line, Section};
use crate::record::{Record, object};
use crate::rows::{RejectedLine, Rows};
use bumpalo::Bump;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use copy::copy_json;
pub use document::normalize_document;
pub use queue::{QueueOperation, queue_operation, queued_prompt, queued_text};
pub use tool_call::{call_from_json, call_to_json};
pub use usage::usage_number;

/// The rows of a section, and the offset up to which the file is now parsed. A line that causes a panic is rejected, and
/// the others are not affected.
///
/// Line numbers start at 0 in the section: only the loader knows how many lines precede it.
pub fn normalize<'a>(
    section: &'a Section,
    place: &'a Place,
    arena: Option<&'a Bump>,
) -> (Rows<'a>, Option<u64>) {
    let normalize =
        |line: &Line<'a>, number, rows: &mut Rows<'a>| normalize_line(line, number, place, rows);
    contain(section, arena, normalize)
}

/// Calls a function for each line. If it panics, it is called again, each time so that a panic rejects the line: to catch
/// panics line by line from the start would cost a twentieth of a first sync.
fn contain<'a>(
    section: &'a Section,
    arena: Option<&'a Bump>,
    work: impl Fn(&Line<'a>, i64, &mut Rows<'a>) -> usize,
) -> (Rows<'a>, Option<u64>) {
    let all = || each_line(section, arena, &work);
    match catch_unwind(AssertUnwindSafe(all)) {
        Ok(rows) => rows,
        Err(_) => each_line(section, arena, catch_panics(&work)),
    }
}

/// Wraps work on a line: if it panics, the line is rejected.
fn catch_panics<'a>(
    mut work: impl FnMut(&Line<'a>, i64, &mut Rows<'a>) -> usize,
) -> impl FnMut(&Line<'a>, i64, &mut Rows<'a>) -> usize {
    move |line, line_number, rows| {
        let before = rows.lengths();
        match catch_unwind(AssertUnwindSafe(|| work(line, line_number, rows))) {
            Ok(used) => used,
            Err(_) => {
                // Drop the rows that the line had added before the panic.
                rows.truncate(before);
                reject_line(line, line_number, rows)
            }
        }
    }
}

/// Rejects every line of a section whose rows the loader failed to write.
pub fn reject(section: &Section) -> (Rows<'_>, Option<u64>) {
    each_line(section, None, reject_line)
}

/// Rejects a document that caused a panic.
pub fn reject_document(bytes: &[u8]) -> Rows<'static> {
    let mut rows = Rows::default();
    rows.rejected_lines.push(RejectedLine {
        line_number: 0,
        reason: Reason::InternalError.name(),
        raw: bytes.to_vec(),
        ..RejectedLine::default()
    });
    rows
}

/// Calls a function for each line, and counts newlines and blank lines. The function returns how many bytes it consumed.
fn each_line<'a>(
    section: &'a Section,
    arena: Option<&'a Bump>,
    mut work: impl FnMut(&Line<'a>, i64, &mut Rows<'a>) -> usize,
) -> (Rows<'a>, Option<u64>) {
    let mut rows = Rows::default();
    let mut parsed = None;
    for line in section.lines(arena) {
        let line_number = rows.newline_count;
        let used = work(&line, line_number, &mut rows);
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

/// Rejects a line as a whole. One that is not complete gets another chance when it is.
fn reject_line(line: &Line<'_>, line_number: i64, rows: &mut Rows<'_>) -> usize {
    let reason = match line.is_complete {
        true => Reason::InternalError,
        false => Reason::IncompleteTail,
    };
    let blanks = line.bytes.len() - line.bytes.trim_ascii_start().len();
    if !is_blank(line.bytes) {
        let raw = line.bytes.trim_ascii();
        rows.rejected_lines
            .push(rejected(line, line_number, blanks, raw, reason));
    }
    match line.is_complete {
        true => line.bytes.len(),
        false => 0,
    }
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
                invalid,
                json,
                record,
            } => {
                if let Some(invalid) = invalid {
                    let (start, raw) = (invalid.start, &line.bytes[invalid]);
                    let reason = Reason::InvalidUtf8;
                    rows.rejected_lines
                        .push(rejected(line, line_number, start, raw, reason));
                }
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
    use crate::rows::EventRows;

    #[test]
    fn a_line_that_the_program_fails_on_costs_no_other() {
        let line = |uuid| format!("{{\"parentUuid\":null,\"uuid\":\"{uuid}\",\"type\":\"user\"}}");
        let place = classify("projects/-w/a.jsonl");
        let fail = |line: &Line<'_>, _: i64, rows: &mut Rows<'_>| {
            rows.events.push(EventRows::default());
            let text = std::str::from_utf8(line.bytes).unwrap();
            assert!(!text.contains("bad"), "a fault");
            rows.events.pop();
            line.bytes.len()
        };
        let content = format!("{}\n {} \n{}\nbad", line("u1"), line("bad"), line("u2"));
        let section = Section::of_last_line(content.into_bytes(), 0, None);
        let (rows, parsed) = contain(&section, None, fail);
        let rejected: Vec<_> = (rows.rejected_lines.iter())
            .map(|line| {
                (
                    line.line_number,
                    line.reason,
                    String::from_utf8_lossy(&line.raw),
                )
            })
            .collect();
        let expected = [
            (1, "internal_error", line("bad").into()),
            (3, "incomplete_tail", "bad".into()),
        ];
        assert_eq!(rejected, expected);
        assert!(rows.events.is_empty() && rows.has_tail);
        assert_eq!(rows.newline_count, 3);
        // What has no end yet gets another chance when it has.
        assert_eq!(parsed, Some(section.end_offset() - 3));
        let (rows, _) = normalize(&section, &place, None);
        assert_eq!(rows.messages.len(), 3);
    }

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
