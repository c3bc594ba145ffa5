//! A case: two homes, how the first one grows, and how it is rewritten afterwards.

use crate::random::Random;
use crate::records::{AGENTS, BACKUPS, OUTPUTS, PASTES, Place, Records, SESSIONS, SLUGS};

/// Something of a case that the minimizer can take away.
#[derive(Clone)]
pub struct Part<T> {
    pub value: T,
    pub is_dropped: bool,
}

#[derive(Clone)]
pub struct Case {
    pub homes: [Vec<Part<File>>; 2],
    /// For each sync before the last one: how much of each file of the first home there is, in thousandths.
    pub steps: Vec<Part<Vec<usize>>>,
    /// The order in which the files of the first home appear one at a time.
    pub order: Vec<usize>,
    /// What happens to the first home when all of it was imported: one sync after each.
    pub rewrites: Vec<Part<Rewrite>>,
    pub threads: usize,
    pub indexes_tool_output: bool,
    /// Whether the homes are of two machines.
    pub has_two_machines: bool,
}

#[derive(Clone)]
pub struct File {
    /// Relative to the home; not always UTF-8.
    pub path: Vec<u8>,
    /// Lines with their ends. A document is one.
    pub lines: Vec<Part<Vec<u8>>>,
    /// Sets its mtime, and with it the order of reading.
    pub age: u64,
}

#[derive(Clone)]
pub struct Rewrite {
    /// Of the first home.
    pub file: usize,
    pub change: Change,
}

#[derive(Clone, Debug)]
pub enum Change {
    /// All but so many thousandths of its bytes are gone.
    Truncate(usize),
    /// It has the bytes of another file.
    ReplaceBy(usize),
    /// One of its lines is gone.
    DropLine(usize),
    /// One of its bytes is another.
    OtherByte(usize),
    /// It ends with the lines of another file.
    AppendFrom(usize),
    Remove,
    /// It is as it was at first.
    Restore,
}

impl<T> Part<T> {
    fn new(value: T) -> Part<T> {
        Part {
            value,
            is_dropped: false,
        }
    }
}

impl File {
    pub fn content(&self) -> Vec<u8> {
        let lines = self.lines.iter().filter(|line| !line.is_dropped);
        lines.flat_map(|line| line.value.clone()).collect()
    }
}

/// What is there of a list of parts, with their numbers.
pub fn kept<T>(parts: &[Part<T>]) -> impl DoubleEndedIterator<Item = (usize, &T)> {
    let parts = parts.iter().enumerate();
    parts
        .filter(|(_, part)| !part.is_dropped)
        .map(|(number, part)| (number, &part.value))
}

impl Case {
    /// The case of a seed.
    pub fn new(seed: u64) -> Case {
        let mut records = Records::new(Random::new(seed));
        let first = home(&mut records);
        let mut second = home(&mut records);
        // A home that was copied to another machine has some of the same files.
        for file in &first {
            if records.random.chance(20) && second.iter().all(|other| other.path != file.path) {
                second.push(file.clone());
            }
        }
        let random = &mut records.random;
        let count = random.between(1, 4);
        let mut steps = vec![vec![0; first.len()]; count];
        for file in 0..first.len() {
            let mut cuts: Vec<usize> = (0..count).map(|_| random.below(1001)).collect();
            cuts.sort_unstable();
            for (step, cut) in steps.iter_mut().zip(cuts) {
                // Often a file is not there at first, or is whole at once.
                step[file] = match random.below(5) {
                    0 => 0,
                    1 => 1000,
                    _ => cut,
                };
            }
            // Files only grow.
            for step in 1..count {
                steps[step][file] = steps[step][file].max(steps[step - 1][file]);
            }
        }
        let mut order: Vec<usize> = (0..first.len()).collect();
        random.shuffle(&mut order);
        let count = random.between(2, 5);
        let rewrites = (0..count).map(|_| rewrite(random, &first)).collect();
        Case {
            steps: parts(steps),
            order,
            rewrites: parts(rewrites),
            threads: random.between(2, 5),
            indexes_tool_output: random.chance(10),
            has_two_machines: random.chance(30),
            homes: [parts(first), parts(second)],
        }
    }

    /// The files of a home and their bytes.
    pub fn files(&self, home: usize) -> impl Iterator<Item = (usize, &File)> {
        kept(&self.homes[home])
    }
}

fn parts<T>(values: Vec<T>) -> Vec<Part<T>> {
    values.into_iter().map(Part::new).collect()
}

fn rewrite(random: &mut Random, files: &[File]) -> Rewrite {
    let other = random.below(files.len());
    let change = match random.below(12) {
        0 | 1 => Change::Truncate(random.below(1000)),
        2 => Change::ReplaceBy(other),
        3 | 4 => Change::DropLine(random.below(8)),
        5 | 6 => Change::OtherByte(random.below(1000)),
        7 => Change::AppendFrom(other),
        8 | 9 => Change::Remove,
        _ => Change::Restore,
    };
    Rewrite {
        file: random.below(files.len()),
        change,
    }
}

/// What is read by lines, and where it stands.
fn transcripts() -> Vec<(Vec<u8>, Place)> {
    let place = |session: usize, agent: Option<usize>| Place {
        session: SESSIONS[session],
        agent: agent.map(|agent| AGENTS[agent]),
    };
    let [s1, s2, s3, s4] = [0, 1, 2, 3].map(|session| SESSIONS[session]);
    let [a1, a2, a3, a4] = [0, 1, 2, 3].map(|agent| AGENTS[agent]);
    let paths = [
        (format!("projects/-w/{s1}.jsonl"), place(0, None)),
        (format!("projects/-w/{s2}.jsonl"), place(1, None)),
        (format!("projects/-other/{s2}.jsonl"), place(1, None)),
        (format!("projects/-other/{s3}.jsonl"), place(2, None)),
        (
            format!("projects/-w--claude-worktrees-x/{s4}.jsonl"),
            place(3, None),
        ),
        (format!("projects/-w/agent-{a1}.jsonl"), place(0, Some(0))),
        (
            format!("projects/-w/{s1}/subagents/agent-{a1}.jsonl"),
            place(0, Some(0)),
        ),
        (
            format!("projects/-w/{s1}/subagents/agent-{a2}.jsonl"),
            place(0, Some(1)),
        ),
        (
            format!("projects/-w/{s1}/subagents/agent-{a3}.jsonl"),
            place(0, Some(2)),
        ),
        (
            format!("projects/-w/{s2}/subagents/agent-{a4}.jsonl"),
            place(1, Some(3)),
        ),
        (
            format!("projects/-w/{s1}/subagents/workflows/wf_1/agent-{a2}.jsonl"),
            place(0, Some(1)),
        ),
        (
            format!("projects/-w/{s1}/subagents/workflows/wf_1/journal.jsonl"),
            place(0, None),
        ),
        (format!("projects/-w/{s3}/chat.jsonl"), place(2, None)),
        ("projects/-w/notes.jsonl".to_string(), place(0, None)),
        ("projects/-w/two words.jsonl".to_string(), place(1, None)),
        ("projects/-w/a\\b.jsonl".to_string(), place(1, None)),
        ("projects/-w/a\nb.jsonl".to_string(), place(2, None)),
        ("projects/-w/a\\xff.jsonl".to_string(), place(0, None)),
        ("projects/-caf\u{e9}/'\"%.jsonl".to_string(), place(3, None)),
    ];
    let mut paths: Vec<(Vec<u8>, Place)> = paths
        .into_iter()
        .map(|(path, place)| (path.into_bytes(), place))
        .collect();
    paths.push((b"projects/-w/a\xff.jsonl".to_vec(), place(0, None)));
    paths.push((b"projects/-\xffw/b.jsonl".to_vec(), place(1, None)));
    paths
}

/// What is read as a whole, is only archived, or is only counted.
fn documents() -> Vec<String> {
    let [s1, s2] = [SESSIONS[0], SESSIONS[1]];
    let [a1, a2] = [AGENTS[0], AGENTS[1]];
    let mut paths = vec![
        format!("projects/-w/{s1}/subagents/agent-{a1}.meta.json"),
        format!("projects/-w/{s1}/subagents/agent-{a2}.meta.json"),
        format!("projects/-w/{s1}/subagents/workflows/wf_1/agent-{a2}.meta.json"),
        format!("projects/-w/{s1}/workflows/wf_1.json"),
        format!("projects/-w/{s1}/workflows/scripts/x.js"),
        format!("projects/-w/{s1}/custom-title.json"),
        "projects/-w/sessions-index.json".to_string(),
        "projects/-other/sessions-index.json".to_string(),
        "projects/-w/memory/MEMORY.md".to_string(),
        format!("todos/{s1}.json"),
        format!("todos/{s1}-agent-{a1}.json"),
        format!("todos/{s2}-agent-{s2}.json"),
        format!("tasks/{s1}/1.json"),
        "tasks/list/2.json".to_string(),
        format!("image-cache/{s1}/1.png"),
        "stats-cache.json".to_string(),
        format!("usage-data/facets/{s1}.json"),
        format!("usage-data/session-meta/{s2}.json"),
        "usage-data/report.html".to_string(),
        "teams/tea/config.json".to_string(),
        "settings.json".to_string(),
        ".credentials.json".to_string(),
    ];
    paths.extend(SLUGS.iter().map(|slug| format!("plans/{slug}.md")));
    paths.extend(
        PASTES
            .iter()
            .map(|paste| format!("paste-cache/{paste}.txt")),
    );
    for session in [s1, s2] {
        paths.extend(
            OUTPUTS
                .iter()
                .map(|name| format!("projects/-w/{session}/tool-results/{name}")),
        );
        paths.extend(
            BACKUPS
                .iter()
                .map(|name| format!("file-history/{session}/{name}")),
        );
    }
    paths
}

fn home(records: &mut Records) -> Vec<File> {
    let mut transcripts = transcripts();
    records.random.shuffle(&mut transcripts);
    let count = records.random.between(1, 6);
    let mut files = Vec::new();
    for (path, place) in transcripts.into_iter().take(count) {
        let count = records.random.between(0, 9);
        let lines = (0..count).map(|_| records.line(place)).collect();
        files.push((path, ended(lines, &mut records.random)));
    }
    if records.random.chance(50) {
        let count = records.random.between(1, 5);
        let place = Place {
            session: SESSIONS[0],
            agent: None,
        };
        let lines = (0..count).map(|_| records.history(place)).collect();
        files.push((b"history.jsonl".to_vec(), ended(lines, &mut records.random)));
    }
    let mut documents = documents();
    records.random.shuffle(&mut documents);
    let count = records.random.between(0, 7);
    for path in documents.into_iter().take(count) {
        let content = records.document(&path);
        files.push((path.into_bytes(), vec![content]));
    }
    files
        .into_iter()
        .map(|(path, lines)| File {
            path,
            lines: parts(lines),
            age: records.random.below(1000) as u64,
        })
        .collect()
}

/// Ends lines: with a newline, now and then with CRLF or with nothing; the last one often with nothing.
fn ended(mut lines: Vec<Vec<u8>>, random: &mut Random) -> Vec<Vec<u8>> {
    let count = lines.len();
    for (number, line) in lines.iter_mut().enumerate() {
        match random.below(40) {
            0 => {}
            1 => line.extend(b"\r\n"),
            2 => line.extend(b"\n\n"),
            3..10 if number + 1 == count => {}
            _ => line.push(b'\n'),
        }
    }
    lines
}
