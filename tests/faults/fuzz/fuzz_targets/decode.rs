//! Whatever bytes a line holds: no panic, and the pieces cover every byte but blanks.

#![no_main]

use cc_etl::decode::{Piece, decode};
use cc_etl::discover::classify;
use cc_etl::normalize::normalize_line;
use cc_etl::read::Line;
use cc_etl::rows::Rows;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    if line.contains(&b'\n') {
        return;
    }
    let is_blank = |bytes: &[u8]| bytes.iter().all(|byte| b" \t\r".contains(byte));
    for is_complete in [true, false] {
        let mut end = 0;
        let used = decode(line, is_complete, None, &mut |piece| {
            let (offset, length) = match piece {
                Piece::Record { offset, length, .. }
                | Piece::Repaired { offset, length, .. } => (offset, length),
                Piece::Rejected { offset, raw, .. } => (offset, raw.len()),
            };
            assert!(offset >= end && length > 0 && is_blank(&line[end..offset]));
            end = offset + length;
        });
        assert!(used >= end && is_blank(&line[end..used]));
        assert!(!is_complete || used == line.len());
        for path in ["projects/-w/5e550001-0000-4000-8000-000000000001.jsonl", "history.jsonl"] {
            let line = Line { offset: 0, bytes: line, is_complete, is_continued: false, arena: None };
            normalize_line(&line, 0, &classify(path), &mut Rows::default());
        }
    }
});
