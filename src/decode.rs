//! A line -> its records, including those of a damaged line.
//!
//! A line is normally one JSON object. Crashes and concurrent writers leave others: two concatenated objects, a torn record
//! followed by whole ones, runs of NUL bytes. [`decode`] splits a line into pieces that cover every byte except blanks: records,
//! and fragments that are not records.
//!
//! It works from left to right, and a whole object at the start is a record whatever follows it. So an incomplete last line
//! can be decoded as far as it goes: the bytes that are appended later do not change the result.

use crate::json::{self, Object, Reader};
use crate::record::{Record, kinds};
use bumpalo::Bump;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::ops::Range;

/// A piece of a line.
pub enum Piece<'p, 'a> {
    /// A whole object.
    Record {
        /// In the line.
        offset: usize,
        length: usize,
        json: &'a str,
        record: &'p mut Record<'a>,
    },
    /// A whole object with repaired escapes or bytes, so that it cannot borrow from the line.
    Repaired {
        /// In the line.
        offset: usize,
        /// Before the repair.
        length: usize,
        /// From the first to the last byte that is not UTF-8, in the line. The record has U+FFFD instead.
        invalid: Option<Range<usize>>,
        json: &'p str,
        record: &'p mut Record<'p>,
    },
    /// Bytes that are not a record.
    Rejected {
        /// In the line.
        offset: usize,
        raw: &'a [u8],
        reason: Reason,
    },
}

/// Why bytes are not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    NulRun,
    /// Starts with `{` but is truncated or damaged.
    TornRecord,
    NotJson,
    /// JSON of another type.
    NotAnObject,
    /// Bytes of a record that are not UTF-8, or an object that is invalid without them.
    InvalidUtf8,
    /// An object that is nested deeper than SQLite's JSON functions allow.
    TooDeep,
    /// The last line of a file, which has no newline yet.
    IncompleteTail,
    /// A bug in cc-etl: it panicked on the line.
    InternalError,
}

impl Reason {
    /// The value in the database.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NulRun => "nul_run",
            Reason::TornRecord => "torn_record",
            Reason::NotJson => "not_json",
            Reason::NotAnObject => "not_an_object",
            Reason::InvalidUtf8 => "invalid_utf8",
            Reason::TooDeep => "too_deep",
            Reason::IncompleteTail => "incomplete_tail",
            Reason::InternalError => "internal_error",
        }
    }
}

/// The limit of SQLite's JSON functions.
const MAX_DEPTH: usize = 1000;

/// Splits a line into pieces. Returns how many bytes were consumed: all of a line that `is_complete`, else those whose meaning
/// cannot change when more bytes arrive. Unescaped strings are allocated in `arena`.
pub fn decode<'a>(
    line: &'a [u8],
    is_complete: bool,
    arena: Option<&'a Bump>,
    each: &mut dyn FnMut(Piece<'_, 'a>),
) -> usize {
    let start = skip_blanks(line, 0);
    let end = content_end(line);
    if start >= end {
        return if is_complete { line.len() } else { 0 };
    }
    if line[start] == b'{' && whole_record(&line[start..end], start, arena, each) {
        return if is_complete { line.len() } else { end };
    }
    salvage(line, is_complete, arena, each)
}

/// Emits the bytes as a record if they are exactly one valid object. Returns whether they are.
fn whole_record<'a>(
    bytes: &'a [u8],
    offset: usize,
    arena: Option<&'a Bump>,
    each: &mut dyn FnMut(Piece<'_, 'a>),
) -> bool {
    let length = bytes.len();
    let Ok(json) = simdutf8::basic::from_utf8(bytes) else {
        return lossy_record(bytes, offset, each);
    };
    // A record is large, so it is filled in place and not returned by value.
    let mut record = Record::default();
    if fill(&mut record, json, arena) {
        each(Piece::Record {
            offset,
            length,
            json,
            record: &mut record,
        });
        return true;
    }
    let Cow::Owned(json) = json::repair_escapes(json) else {
        return false;
    };
    let mut record = Record::default();
    let is_whole = fill(&mut record, &json, None);
    if is_whole {
        each(Piece::Repaired {
            offset,
            length,
            invalid: None,
            json: &json,
            record: &mut record,
        });
    }
    is_whole
}

/// The same for bytes that are not UTF-8. They stay what they are in the archive.
fn lossy_record<'a>(bytes: &[u8], offset: usize, each: &mut dyn FnMut(Piece<'_, 'a>)) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let json = json::repair_escapes(&text);
    let mut record = Record::default();
    let is_whole = fill(&mut record, &json, None);
    if is_whole {
        let invalid = invalid_utf8(bytes).map(|range| offset + range.start..offset + range.end);
        each(Piece::Repaired {
            offset,
            length: bytes.len(),
            invalid,
            json: &json,
            record: &mut record,
        });
    }
    is_whole
}

/// From the first to the last byte that is not UTF-8.
pub fn invalid_utf8(bytes: &[u8]) -> Option<Range<usize>> {
    let mut range: Option<Range<usize>> = None;
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            let end = at + chunk.invalid().len();
            range = Some(range.map_or(at, |range| range.start)..end);
            at = end;
        }
    }
    range
}

/// Parses a record. Returns whether the JSON is valid, is not nested too deeply and needs no repair.
fn fill<'a>(record: &mut Record<'a>, json: &'a str, arena: Option<&'a Bump>) -> bool {
    let mut reader = Reader::with_arena(json, arena);
    let is_json = record.fill(&mut reader).is_ok() && reader.end().is_ok();
    is_json
        && reader.deepest <= MAX_DEPTH
        && !(reader.has_odd_escape && matches!(json::repair_escapes(json), Cow::Owned(_)))
}

fn salvage<'a>(
    line: &'a [u8],
    is_complete: bool,
    arena: Option<&'a Bump>,
    each: &mut dyn FnMut(Piece<'_, 'a>),
) -> usize {
    let mut used = 0;
    loop {
        let position = skip_blanks(line, used);
        if position == line.len() {
            return if is_complete { line.len() } else { used };
        }
        let nuls = count_nuls(&line[position..]);
        let object_at = skip_blanks(line, position + nuls);
        if nuls > 0 && (is_complete || json::object_length(&line[object_at..]).is_ok()) {
            reject(line, position, position + nuls, Reason::NulRun, each);
            used = position + nuls;
        } else if let Ok(length) = json::object_length(&line[position..]) {
            let bytes = &line[position..position + length];
            if !whole_record(bytes, position, arena, each) {
                let reason = match std::str::from_utf8(bytes) {
                    Err(_) => Reason::InvalidUtf8,
                    Ok(_) => Reason::TooDeep,
                };
                reject(line, position, position + length, reason, each);
            }
            used = position + length;
        } else if !is_complete {
            return used;
        } else {
            let end = whole_suffix(line, position).unwrap_or_else(|| content_end(line));
            let reason = why_not(&line[position..end]);
            reject(line, position, end, reason, each);
            used = end;
        }
    }
}

fn reject<'a>(
    line: &'a [u8],
    from: usize,
    to: usize,
    reason: Reason,
    each: &mut dyn FnMut(Piece<'_, 'a>),
) {
    each(Piece::Rejected {
        offset: from,
        raw: &line[from..to],
        reason,
    });
}

fn why_not(fragment: &[u8]) -> Reason {
    if fragment.first() == Some(&b'{') {
        Reason::TornRecord
    } else if serde_json::from_slice::<IgnoredAny>(fragment).is_ok() {
        Reason::NotAnObject
    } else {
        Reason::NotJson
    }
}

/// Whether a line is empty or has only blanks.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| BLANKS.contains(byte))
}

/// The whitespace of JSON except the newline.
const BLANKS: &[u8] = b" \t\r";

fn skip_blanks(line: &[u8], from: usize) -> usize {
    let blanks = line[from..].iter().take_while(|byte| BLANKS.contains(byte));
    from + blanks.count()
}

fn content_end(line: &[u8]) -> usize {
    let blanks = line.iter().rev().take_while(|byte| BLANKS.contains(byte));
    line.len() - blanks.count()
}

fn count_nuls(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == 0).count()
}

/// Finds the first record after a torn one, from which whole objects reach the end of the line. An object that is nested in
/// the torn record does not count.
fn whole_suffix(line: &[u8], torn_at: usize) -> Option<usize> {
    // Each attempt may read to the end of the line, which would take quadratic time on hostile input. Real torn lines need
    // a handful of attempts.
    let mut budget = 16 * (line.len() - torn_at) + 65_536;
    let mut in_string = false;
    let mut is_escaped = false;
    let mut last = 0;
    for position in torn_at..line.len() {
        let byte = line[position];
        if position > torn_at && line[position..].starts_with(b"{\"") {
            let may_be_nested = !in_string && matches!(last, b':' | b',' | b'[');
            let bytes_read = match json::object_length(&line[position..]) {
                Ok(length) => {
                    let first = &line[position..position + length];
                    if objects_reach_end(line, position + length) && is_record(first, may_be_nested)
                    {
                        return Some(position);
                    }
                    line.len() - position
                }
                Err(length) => length,
            };
            budget = budget.checked_sub(bytes_read)?;
        }
        if is_escaped {
            is_escaped = false;
        } else if in_string {
            match byte {
                b'\\' => is_escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
        } else if byte == b'"' {
            in_string = true;
        }
        if !BLANKS.contains(&byte) {
            last = byte;
        }
    }
    None
}

fn objects_reach_end(line: &[u8], from: usize) -> bool {
    let mut position = from;
    loop {
        position = skip_blanks(line, position);
        let rest = &line[position..];
        if rest.is_empty() {
            return true;
        }
        match count_nuls(rest) {
            0 => match json::object_length(rest) {
                Ok(length) => position += length,
                Err(_) => return false,
            },
            nuls => position += nuls,
        }
    }
}

fn is_record(bytes: &[u8], may_be_nested: bool) -> bool {
    let is_record = |record: &Record<'_>| {
        let is_known = record.kind.as_deref().is_some_and(kinds::is_known);
        let has_display = record.rest.iter().any(|(key, _)| key == "display");
        let is_history = has_display && record.timestamp.is_some();
        match may_be_nested {
            true => record.is_chain() && record.session_id.is_some(),
            false => record.is_chain() || is_known || is_history,
        }
    };
    let mut found = false;
    whole_record(bytes, 0, None, &mut |piece| match piece {
        Piece::Record { record, .. } => found = is_record(record),
        Piece::Repaired { record, .. } => found = is_record(record),
        Piece::Rejected { .. } => {}
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHAIN: &str = r#"{"parentUuid":null,"uuid":"u","type":"user","sessionId":"s"}"#;

    /// The pieces as strings: `+` for records and `-reason` for fragments.
    fn pieces(line: &[u8], is_complete: bool) -> (Vec<String>, usize) {
        let mut pieces = Vec::new();
        let used = decode(line, is_complete, None, &mut |piece| match piece {
            Piece::Record { json, .. } | Piece::Repaired { json, .. } => {
                pieces.push(format!("+{json}"));
            }
            Piece::Rejected { raw, reason, .. } => {
                pieces.push(format!(
                    "-{} {}",
                    reason.name(),
                    String::from_utf8_lossy(raw)
                ));
            }
        });
        (pieces, used)
    }

    fn complete(line: impl AsRef<[u8]>) -> Vec<String> {
        pieces(line.as_ref(), true).0
    }

    #[test]
    fn a_whole_object_is_a_record() {
        assert_eq!(complete(" {\"a\":1}\r"), ["+{\"a\":1}"]);
        assert_eq!(complete("  \r"), [""; 0]);
    }

    #[test]
    fn concatenated_objects_are_two_records() {
        assert_eq!(complete("{\"a\":1}{\"b\":2}"), ["+{\"a\":1}", "+{\"b\":2}"]);
    }

    #[test]
    fn a_whole_record_after_a_torn_one_is_kept() {
        let line = format!(r#"{{"type":"pr-link","prNu{CHAIN}"#);
        assert_eq!(
            complete(line),
            [
                r#"-torn_record {"type":"pr-link","prNu"#.to_string(),
                format!("+{CHAIN}")
            ]
        );
    }

    #[test]
    fn a_record_torn_inside_a_string_ends_where_the_next_starts() {
        let line = format!(r#"{{"type":"user","message":{{"content":"a, b:{CHAIN}{CHAIN}"#);
        assert_eq!(
            complete(line)[1..],
            [format!("+{CHAIN}"), format!("+{CHAIN}")]
        );
    }

    #[test]
    fn a_nested_object_of_a_torn_record_is_not_a_record() {
        for line in [
            r#"{"type":"user","message":{"type":"user","content":"x"}"#,
            r#"{"type":"user","message":{"content":[{"type":"text","text":"x"}"#,
            r#"{"data":{"message":{"type":"user","uuid":"u","timestamp":"t"}"#,
        ] {
            assert_eq!(complete(line), [format!("-torn_record {line}")]);
        }
    }

    #[test]
    fn whole_objects_must_reach_the_end_of_the_line() {
        let line = format!(r#"{{"type":"x{CHAIN} and more"#);
        assert_eq!(complete(&line), [format!("-torn_record {line}")]);
    }

    #[test]
    fn a_record_before_garbage_is_kept() {
        assert_eq!(
            complete("{\"a\":1} garbage"),
            ["+{\"a\":1}", "-not_json garbage"]
        );
    }

    #[test]
    fn only_the_nul_bytes_of_a_nul_run_are_rejected() {
        assert_eq!(
            complete("\0\0{\"a\":1}\0"),
            ["-nul_run \0\0", "+{\"a\":1}", "-nul_run \0"]
        );
    }

    #[test]
    fn a_line_that_is_not_an_object_is_rejected_with_its_reason() {
        assert_eq!(complete("[1]"), ["-not_an_object [1]"]);
        assert_eq!(complete("// note"), ["-not_json // note"]);
        assert_eq!(complete("{\"a\":"), ["-torn_record {\"a\":"]);
        assert_eq!(complete("{\"a\":NaN}"), ["-torn_record {\"a\":NaN}"]);
        assert_eq!(
            complete(b"{\"a\":\"\xff\"}{\"b\":1}"),
            ["+{\"a\":\"\u{fffd}\"}", "+{\"b\":1}"]
        );
        assert_eq!(
            complete(b"{\"a\":1\xff}{\"b\":1}")[0],
            "-torn_record {\"a\":1\u{fffd}}{\"b\":1}"
        );
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
        assert_eq!(complete(&deep), [format!("-too_deep {deep}")]);
        let just_not = format!("{{\"a\":{}{}}}", "[".repeat(999), "]".repeat(999));
        assert_eq!(complete(&just_not), [format!("+{just_not}")]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_and_named() {
        let named = |line: &'static [u8]| {
            let mut found = Vec::new();
            decode(line, true, None, &mut |piece| {
                if let Piece::Repaired { invalid, json, .. } = piece {
                    found.push((json.to_string(), invalid.map(|range| &line[range])));
                }
            });
            found
        };
        assert_eq!(
            named(b" {\"a\":\"x\xffyz\xc3\"}"),
            [(
                "{\"a\":\"x\u{fffd}yz\u{fffd}\"}".to_string(),
                Some(&b"\xffyz\xc3"[..])
            )]
        );
        assert_eq!(
            named(b"{\"a\":\"\\ud83d\"}"),
            [("{\"a\":\"\\ufffd\"}".to_string(), None)]
        );
    }

    #[test]
    fn lone_surrogates_and_nul_escapes_are_repaired() {
        assert_eq!(
            complete(r#"{"a":"\ud83d \udE00 \u0000 \\u0000 \ud83d\ude00"}"#),
            [r#"+{"a":"\ufffd \ufffd \ufffd \\u0000 \ud83d\ude00"}"#]
        );
    }

    #[test]
    fn an_incomplete_line_is_consumed_up_to_where_it_can_change() {
        assert_eq!(pieces(b"{\"a\":1}", false), (vec!["+{\"a\":1}".into()], 7));
        assert_eq!(
            pieces(b"{\"a\":1}{\"b\"", false),
            (vec!["+{\"a\":1}".into()], 7)
        );
        assert_eq!(pieces(b"{\"a\"", false), (vec![], 0));
        assert_eq!(pieces(b"\0\0", false), (vec![], 0));
        assert_eq!(
            pieces(b"\0{\"a\":1} ", false),
            (vec!["-nul_run \0".into(), "+{\"a\":1}".into()], 8)
        );
    }

    #[test]
    fn deeply_nested_garbage_takes_linear_time() {
        let line = "{\"a\":".repeat(200_000);
        assert_eq!(complete(&line).len(), 1);
        let line = "{\"a\":\"".repeat(200_000);
        assert_eq!(complete(&line).len(), 1);
    }

    /// The fragments of damaged lines, as found in real files.
    fn fragment() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            Just(CHAIN.as_bytes().to_vec()),
            Just(br#"{"type":"summary","summary":"a \" b","leafUuid":"u"}"#.to_vec()),
            Just(br#"{"type":"user","message":{"content":[{"type":"text","text":"x"}]}"#.to_vec()),
            Just(b"\0\0\0".to_vec()),
            Just(b" ".to_vec()),
            Just(b"\xff".to_vec()),
            Just(br#"{"a":"\ud800"}"#.to_vec()),
            (0..CHAIN.len()).prop_map(|cut| CHAIN.as_bytes()[..cut].to_vec()),
            (0..CHAIN.len()).prop_map(|cut| CHAIN.as_bytes()[cut..].to_vec()),
            proptest::collection::vec(
                any::<u8>().prop_filter("no newline", |byte| *byte != b'\n'),
                0..8
            ),
        ]
    }

    fn line() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(fragment(), 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn pieces_cover_every_byte_but_blanks(line in line()) {
            let mut covered = 0;
            let used = decode(&line, true, None, &mut |piece| {
                let (offset, length) = match piece {
                    Piece::Record { offset, length, .. }
                    | Piece::Repaired { offset, length, .. } => (offset, length),
                    Piece::Rejected { offset, raw, .. } => (offset, raw.len()),
                };
                assert!(length > 0);
                assert!(is_blank(&line[covered..offset]));
                covered = offset + length;
            });
            assert_eq!(used, line.len());
            assert!(is_blank(&line[covered..]));
        }

        #[test]
        fn a_line_that_arrives_in_two_parts_gives_the_same_pieces(line in line(), cut in 0usize..400) {
            let whole = complete(&line);
            let (mut parts, used) = pieces(&line[..cut.min(line.len())], false);
            parts.extend(complete(&line[used..]));
            assert_eq!(parts, whole);
        }
    }
}
