//! Mutates lines and takes them apart: nothing may panic, and the pieces must cover every byte but blanks.
//!
//!     cargo run --release --example fuzz_decoder -- [EXECUTIONS] [SEED]
//!
//! The lines are those of the demo home, and some that crashes left. It runs on all cores, and prints the line of a
//! failure so that it can become a test. The same property is a target of `cargo fuzz`: tests/faults/fuzz.

use cc_etl::database::DEMO_HOME;
use cc_etl::decode::{Piece, decode};
use cc_etl::discover::{Place, classify};
use cc_etl::normalize::normalize_line;
use cc_etl::read::Line;
use cc_etl::rows::Rows;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|text| {
        text.parse::<u64>()
            .unwrap_or_else(|_| panic!("{text} is not a number"))
    });
    let executions = arguments.next().unwrap_or(10_000_000);
    let seed = arguments.next().unwrap_or(1);
    let lines = seeds();
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let failures = Mutex::new(Vec::new());
    std::panic::set_hook(Box::new(|_| {}));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (lines, failures) = (&lines, &failures);
            let count = executions / threads + u64::from(thread < executions % threads);
            scope.spawn(move || {
                let mut random = Random(seed * 1_000_003 + thread + 1);
                for number in 0..count {
                    let line = mutate(lines, &mut random);
                    if let Err(why) = try_line(&line, number % 4 == 0) {
                        let text = line.escape_ascii().to_string();
                        failures.lock().unwrap().push(format!("{why}: {text}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    for failure in failures.iter().take(10) {
        println!("{failure}");
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{:<7} decoder: {executions} executions, {} failures, {seconds:.0} s, {:.0} a second",
        if failures.is_empty() { "ok" } else { "FAILED" },
        failures.len(),
        executions as f64 / seconds
    );
    ExitCode::from(u8::from(!failures.is_empty()))
}

/// Whole and as if it were the unfinished last line of a file; and, now and then, what becomes rows of it.
fn try_line(line: &[u8], with_rows: bool) -> Result<(), String> {
    let tried = catch_unwind(AssertUnwindSafe(|| {
        for is_complete in [true, false] {
            covers(line, is_complete)?;
        }
        if with_rows {
            for (place, is_complete) in places()
                .iter()
                .flat_map(|place| [(place, true), (place, false)])
            {
                let line = Line {
                    arena: None,
                    offset: 0,
                    bytes: line,
                    is_complete,
                    is_continued: false,
                };
                normalize_line(&line, 0, place, &mut Rows::default());
            }
        }
        Ok(())
    }));
    tried.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

fn places() -> &'static [Place; 2] {
    static PLACES: std::sync::LazyLock<[Place; 2]> = std::sync::LazyLock::new(|| {
        [
            classify("projects/-w/5e550001-0000-4000-8000-000000000001.jsonl"),
            classify("history.jsonl"),
        ]
    });
    &PLACES
}

/// The pieces follow each other, and between them are blanks only.
fn covers(line: &[u8], is_complete: bool) -> Result<(), String> {
    let mut end = 0;
    let mut problem = None;
    let is_blank = |bytes: &[u8]| bytes.iter().all(|byte| b" \t\r".contains(byte));
    let used = decode(line, is_complete, None, &mut |piece| {
        let (offset, length) = match &piece {
            Piece::Record { offset, length, .. } | Piece::Repaired { offset, length, .. } => {
                (*offset, *length)
            }
            Piece::Rejected { offset, raw, .. } => {
                if line.get(*offset..*offset + raw.len()) != Some(raw) {
                    problem = Some("a fragment is not what stands there");
                }
                (*offset, raw.len())
            }
        };
        if offset < end || length == 0 || offset + length > line.len() {
            problem = Some("pieces overlap or lie outside");
        } else if !is_blank(&line[end..offset]) {
            problem = Some("bytes before a piece are not covered");
        }
        end = offset + length;
    });
    if used > line.len() || used < end || (is_complete && used != line.len()) {
        problem = Some("the used bytes are not those of the pieces");
    } else if !is_blank(&line[end..used]) {
        problem = Some("bytes at the end are not covered");
    }
    match problem {
        None => Ok(()),
        Some(problem) => Err(format!("{problem}, complete: {is_complete}")),
    }
}

/// A small generator: the runs must be the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = DEMO_HOME
        .iter()
        .filter(|(path, _)| path.ends_with(".jsonl"))
        .flat_map(|(_, content)| content.split(|byte| *byte == b'\n'))
        .filter(|line| !line.is_empty() && line.len() < 3000)
        .map(<[u8]>::to_vec)
        .collect();
    lines.sort();
    lines.dedup();
    for crash in [
        &br#"{"type":"pr-link","prNu{"parentUuid":null,"uuid":"a","type":"user","sessionId":"s"}"#
            [..],
        br#"{"a":1}{"b":2}{"type":"summary","summary":"x"}"#,
        br#"{"parentUuid":null,"uuid":"a","message":{"role":"user","content":"\ud83d \u0000"}}"#,
        b"\0\0\0\0{\"a\":1}\0\0",
        b"[1,2,3]",
    ] {
        lines.push(crash.to_vec());
    }
    lines
}

const TOKENS: &[&[u8]] = &[
    b"{\"",
    b"}{",
    b"}",
    b"{",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00",
    b"\\u",
    b"\0",
    b"\0\0\0\0\0\0\0\0",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3",
    b"\xe2\x80\xa8",
    b"[[[[[[[[[[[[[[[[",
    b"{\"a\":{\"a\":{\"a\":",
    b"null",
    b"1e999",
    b"-0",
    b"99999999999999999999",
    b"true",
    b"\"uuid\":",
    b"\"type\":",
    b"\"parentUuid\":null,",
    b"\"message\":{",
    b" ",
    b"\t",
    b"\r",
    b",",
    b":",
    b"]",
    b"\x1b[31m",
    b"{\"type\":\"summary\",\"summary\":\"x\"}",
    b"{\"parentUuid\":null,\"uuid\":\"z\",\"sessionId\":\"s\",\"type\":\"user\"}",
];

fn mutate(lines: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut line = lines[random.below(lines.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(line.len() + 1);
        match random.below(9) {
            0 if !line.is_empty() => {
                let at = at.min(line.len() - 1);
                line[at] ^= 1 << random.below(8);
            }
            1 => line.truncate(at),
            2 => drop(line.drain(..at)),
            3 => {
                let end = (at + random.below(40)).min(line.len());
                line.drain(at..end);
            }
            4 => {
                let end = (at + random.below(200)).min(line.len());
                let part = line[at..end].to_vec();
                let to = random.below(line.len() + 1);
                line.splice(to..to, part);
            }
            5 => {
                let other = &lines[random.below(lines.len())];
                let from = random.below(other.len());
                line.splice(at.., other[from..].iter().copied());
            }
            6 => line.extend_from_slice(&lines[random.below(lines.len())]),
            7 => {
                let nuls = vec![0; random.below(50)];
                line.splice(at..at, nuls);
            }
            _ => {
                let token = TOKENS[random.below(TOKENS.len())];
                line.splice(at..at, token.iter().copied());
            }
        }
    }
    // A line has no newline.
    line.retain(|byte| *byte != b'\n');
    line.truncate(8000);
    line
}
