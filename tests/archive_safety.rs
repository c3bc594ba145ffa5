//! Archived bytes stay: a file that is replaced, truncated or rewritten at any moment becomes another version of it.

mod sandbox;

use cc_etl::archive::{self, CHUNK_BYTES};
use cc_etl::database;
use cc_etl::discover;
use cc_etl::error::Result;
use cc_etl::failures::Failures;
use cc_etl::file_diff::{self, ChangedFile};
use cc_etl::import::{Commits, Imported, Importer, Input};
use cc_etl::load::{Batch, Load, Loaded, Loader};
use cc_etl::pipeline::Pipeline;
use cc_etl::progress::Progress;
use cc_etl::stop::Stop;
use cc_etl::store::Statements;
use rusqlite::Connection;
use sandbox::{Sandbox, text};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const FILE: &str = "projects/-w/5e550001-0000-4000-8000-000000000001.jsonl";

/// Line `number` of a version of the file.
fn line(version: usize, number: usize) -> String {
    let text = format!("version {version} line {number} ").repeat(1 + number % 40);
    format!(
        r#"{{"parentUuid":null,"uuid":"v{version}-{number}","type":"user","sessionId":"s","message":{{"content":"{text}"}}}}
"#
    )
}

fn lines(version: usize, count: usize) -> String {
    (0..count).map(|number| line(version, number)).collect()
}

/// What a sync finds changed.
fn changed(sandbox: &Sandbox, connection: &Connection) -> Vec<ChangedFile> {
    let found = discover::discover(&sandbox.home()).unwrap();
    let changes = file_diff::compare(connection, 1, &found, true).unwrap();
    assert!(changes.problems.is_empty(), "{:?}", changes.problems);
    changes.files
}

fn import_with(inputs: Vec<Input>, loader: &mut impl Load) -> Imported {
    let importer = Importer {
        pipeline: &Pipeline::new(Some(1)),
        commits: Commits::Often,
        progress: &Progress::bytes("reading", 0, true),
        stop: &Stop::default(),
        failures: &Failures::default(),
    };
    importer.import(inputs.into_iter(), loader).unwrap()
}

/// The content of each version of the file, by generation.
fn versions(connection: &Connection) -> Vec<String> {
    let mut statement = connection
        .prepare("select file_id, archived_bytes from files where path = ?1 order by generation")
        .unwrap();
    let files = statement.query_map([FILE], |row| Ok((row.get(0)?, row.get(1)?)));
    let files: Vec<(i64, i64)> = files.unwrap().map(|file| file.unwrap()).collect();
    let mut reader = archive::Reader::default();
    let content = files.into_iter().map(|(file_id, length)| {
        let bytes = reader.read(connection, file_id, 0, length.cast_unsigned());
        String::from_utf8(bytes.unwrap()).unwrap()
    });
    content.collect()
}

fn replace(sandbox: &Sandbox, content: &str) {
    let new = sandbox.path("new.jsonl");
    fs::write(&new, content).unwrap();
    fs::rename(new, sandbox.home().join(FILE)).unwrap();
}

/// Syncs, and compares the versions that are archived then with those that are expected.
fn assert_versions(sandbox: &Sandbox, expected: &[&str]) {
    sandbox.sync();
    sandbox.check();
    assert!(versions(&sandbox.connection()) == expected);
    let hash = sandbox.hash();
    sandbox.ok(&["rebuild"]);
    assert_eq!(sandbox.hash(), hash);
}

/// Imports what is new of the file, which somebody changes between the moment it is compared and the moment it is read.
fn import_after(is_held: bool, change: impl FnOnce(&Sandbox)) -> (Sandbox, Imported) {
    let sandbox = Sandbox::new();
    sandbox.write(FILE, lines(1, 10));
    sandbox.sync();
    sandbox.write(FILE, lines(1, 20));
    let connection = database::open(&sandbox.database()).unwrap();
    let mut files = changed(&sandbox, &connection);
    assert_eq!(files.len(), 1);
    if !is_held {
        files[0].bytes = None;
    }
    change(&sandbox);
    let inputs = files
        .into_iter()
        .map(|file| Input::open(file).unwrap().unwrap());
    let mut loader = Loader::new(&connection).unwrap();
    let imported = import_with(inputs.collect(), &mut loader);
    loader.finish().unwrap();
    assert!(imported.problems.is_empty(), "{:?}", imported.problems);
    drop(loader);
    drop(connection);
    (sandbox, imported)
}

#[test]
fn the_file_that_was_compared_is_the_one_that_is_read_though_another_takes_its_name() {
    let (sandbox, imported) = import_after(true, |sandbox| replace(sandbox, &lines(2, 30)));
    assert!(imported.replaced.is_empty());
    assert_versions(&sandbox, &[&lines(1, 20), &lines(2, 30)]);
}

#[test]
fn a_file_that_is_another_when_it_is_opened_again_overwrites_nothing() {
    let (sandbox, imported) = import_after(false, |sandbox| replace(sandbox, &lines(2, 30)));
    assert_eq!(imported.replaced.len(), 1);
    assert_versions(&sandbox, &[&lines(1, 10), &lines(2, 30)]);
}

#[test]
fn a_file_that_is_rewritten_in_place_before_it_is_read_overwrites_nothing() {
    let rewrite = |sandbox: &Sandbox| drop(sandbox.write(FILE, lines(2, 30)));
    let (sandbox, imported) = import_after(true, rewrite);
    assert_eq!(imported.replaced.len(), 1);
    assert_versions(&sandbox, &[&lines(1, 10), &lines(2, 30)]);
}

#[test]
fn a_file_that_is_truncated_before_it_is_read_loses_nothing() {
    let truncate = |sandbox: &Sandbox| drop(sandbox.write(FILE, lines(1, 5)));
    let (sandbox, imported) = import_after(true, truncate);
    assert_eq!(imported.replaced.len(), 1);
    assert_versions(&sandbox, &[&lines(1, 10), &lines(1, 5)]);
}

#[test]
fn a_file_that_grows_before_it_is_read_is_read_to_its_end() {
    let append = |sandbox: &Sandbox| {
        let mut file = OpenOptions::new()
            .append(true)
            .open(sandbox.home().join(FILE))
            .unwrap();
        file.write_all(line(1, 20).as_bytes()).unwrap();
    };
    let (sandbox, imported) = import_after(true, append);
    assert!(imported.replaced.is_empty());
    assert_eq!(versions(&sandbox.connection()), [lines(1, 21)]);
    assert_versions(&sandbox, &[&lines(1, 21)]);
}

/// A loader after whose first batch something happens to the file.
struct Interrupted<'a, 'c> {
    loader: Loader<Statements<'c>>,
    change: Option<Box<dyn FnOnce() + 'a>>,
}

impl Load for Interrupted<'_, '_> {
    fn load(&mut self, batch: &mut Batch<'_>) -> Result<Loaded> {
        let loaded = self.loader.load(batch);
        if let Some(change) = self.change.take() {
            change();
        }
        loaded
    }

    fn commit(&mut self) -> Result<()> {
        self.loader.commit()
    }
}

/// Imports the first chunk of a file of three, which is rewritten then.
fn import_one_chunk(rewritten: &str) -> (Sandbox, String) {
    let lines_of_a_chunk = CHUNK_BYTES as usize / line(1, 20).len();
    let content = lines(1, 3 * lines_of_a_chunk);
    assert!(content.len() as u64 > 2 * CHUNK_BYTES);
    let sandbox = Sandbox::new();
    sandbox.write(FILE, line(0, 0));
    sandbox.sync();
    replace(&sandbox, &content);
    let connection = database::open(&sandbox.database()).unwrap();
    let files = changed(&sandbox, &connection).into_iter();
    let inputs = files
        .map(|file| Input::open(file).unwrap().unwrap())
        .collect();
    let mut loader = Interrupted {
        loader: Loader::new(&connection).unwrap(),
        change: Some(Box::new(|| drop(sandbox.write(FILE, rewritten)))),
    };
    let imported = import_with(inputs, &mut loader);
    assert_eq!(imported.replaced.len(), 1);
    loader.loader.finish().unwrap();
    drop(loader);
    let first = content[..CHUNK_BYTES as usize].to_string();
    (sandbox, first)
}

#[test]
fn a_file_that_is_rewritten_between_two_chunks_does_not_mix() {
    // As a rewrite leaves it when it has come so far, and what is then appended to it.
    let new = lines(2, 4000);
    for (during, after) in [(new.len(), new.len()), (10_000, 20_000), (0, new.len())] {
        let (sandbox, first) = import_one_chunk(&new[..during]);
        sandbox.write(FILE, &new[..after]);
        assert_versions(&sandbox, &[&line(0, 0), &first, &new[..after]]);
    }
}

#[test]
fn the_line_at_which_a_version_ends_early_becomes_rows() {
    let (sandbox, first) = import_one_chunk("");
    let tails = "select count(*) from rejected_lines where reason = 'incomplete_tail'";
    assert_eq!(sandbox.count(tails), 0);
    fs::remove_file(sandbox.home().join(FILE)).unwrap();
    assert_versions(&sandbox, &[&line(0, 0), &first]);
    assert_eq!(sandbox.count(tails), 1);
}

#[test]
fn a_chunk_that_does_not_begin_with_the_archived_one_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write(FILE, lines(1, 10));
    sandbox.sync();
    sandbox.write(FILE, lines(1, 20));
    let connection = database::open(&sandbox.database()).unwrap();
    let file = changed(&sandbox, &connection).remove(0);
    let content = lines(2, 20);
    let known = file.version.size as usize;
    let mut loader = Loader::new(&connection).unwrap();
    let mut batch = Batch {
        file: file.version.into(),
        chunk: Some(archive::pack(0, content.as_bytes(), known).unwrap()),
        rows: cc_etl::rows::Rows::default(),
        parsed: None,
        end: content.len() as u64,
        is_last: true,
    };
    assert_eq!(loader.load(&mut batch).unwrap(), Loaded::Overtaken);
    loader.finish().unwrap();
    drop(loader);
    drop(connection);
    sandbox.check();
    assert_eq!(versions(&sandbox.connection()), [lines(1, 10)]);
}

#[test]
fn check_finds_archived_bytes_that_were_written_over_though_their_hash_fits() {
    let sandbox = Sandbox::new();
    sandbox.write(FILE, lines(1, 10));
    sandbox.sync();
    sandbox.check();
    let content = lines(1, 10).replace("line 3 ", "line 4 ");
    let chunk = archive::pack(0, content.as_bytes(), 0).unwrap();
    let connection = Connection::open(sandbox.database()).unwrap();
    connection
        .execute(
            "update archive_chunks set content = ?1, content_hash = ?2",
            (chunk.content, chunk.hash),
        )
        .unwrap();
    let output = sandbox.run(&["check"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout);
    assert!(
        told.contains("FAILED  archived versions match their running hashes"),
        "{told}"
    );
    // What the file holds is not archived there, so the next sync begins another version.
    sandbox.sync();
    assert_eq!(versions(&sandbox.connection()), [content, lines(1, 10)]);
}

#[test]
fn a_version_goes_on_through_many_syncs_of_a_file_of_several_chunks() {
    let lines_of_a_chunk = CHUNK_BYTES as usize / line(1, 20).len();
    let content = lines(1, 3 * lines_of_a_chunk);
    let sandbox = Sandbox::new();
    let chunk = CHUNK_BYTES as usize;
    for end in [1, 100, chunk, chunk + 1, 2 * chunk - 1, content.len()] {
        sandbox.write(FILE, &content[..end]);
        sandbox.sync();
        sandbox.check();
    }
    assert_versions(&sandbox, &[&content]);
}

/// Rewrites the file in every way, each time as a version of its own. Returns how many there were.
fn rewrite_until(path: &Path, is_over: &AtomicBool) -> usize {
    let new = path.with_extension("new");
    let mut version = 0;
    while !is_over.load(Ordering::Relaxed) {
        version += 1;
        let content = lines(version, 200 + version * 37 % 4000);
        let (begin, rest) = content.split_at(content.len() / 3);
        match version % 3 {
            0 => {
                fs::write(&new, &content).unwrap();
                fs::rename(&new, path).unwrap();
            }
            1 => fs::write(path, &content).unwrap(),
            _ => {
                fs::write(&new, begin).unwrap();
                fs::rename(&new, path).unwrap();
                let mut file = OpenOptions::new().append(true).open(path).unwrap();
                for piece in rest.as_bytes().chunks(rest.len() / 7 + 1) {
                    file.write_all(piece).unwrap();
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
        std::thread::sleep(Duration::from_millis(version as u64 % 20));
    }
    version
}

#[test]
fn whatever_a_writer_does_meanwhile_versions_do_not_mix_and_what_was_archived_stays() {
    let sandbox = Sandbox::new();
    let path = sandbox.write(FILE, lines(0, 100));
    let is_over = AtomicBool::new(false);
    let home = sandbox.home();
    let mut archived: Vec<String> = Vec::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| rewrite_until(&path, &is_over));
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(4) {
            let output = sandbox.run(&["sync", "--source", home.to_str().unwrap()]);
            // 1: it was rewritten again and again.
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 1)), "{}", text(&output.stderr));
            let found = versions(&sandbox.connection());
            assert!(found.len() >= archived.len());
            for (before, now) in archived.iter().zip(&found) {
                assert!(now.starts_with(before.as_str()));
            }
            archived = found;
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap() > 20);
    });
    sandbox.sync();
    sandbox.check();
    let archived = versions(&sandbox.connection());
    for content in &archived {
        let uuid = content.split("\"uuid\":\"v").nth(1);
        let version = uuid.and_then(|uuid| uuid.split('-').next()).unwrap_or("0");
        let count = content.bytes().filter(|byte| *byte == b'\n').count();
        let whole = lines(version.parse().unwrap(), count + 1);
        assert!(
            whole.starts_with(content.as_str()),
            "version {version} is mixed"
        );
    }
    let hash = sandbox.hash();
    sandbox.ok(&["rebuild"]);
    assert_eq!(sandbox.hash(), hash);
}

#[cfg(unix)]
#[test]
fn a_link_or_a_pipe_that_takes_the_name_of_a_file_is_not_read() {
    for is_link in [true, false] {
        let sandbox = Sandbox::new();
        let file = sandbox.write(FILE, lines(1, 10));
        sandbox.sync();
        sandbox.write(FILE, lines(1, 20));
        sandbox.write("projects/-w/new.jsonl", lines(2, 1));
        let connection = database::open(&sandbox.database()).unwrap();
        let mut files = changed(&sandbox, &connection);
        files.iter_mut().for_each(|file| file.bytes = None);
        let secret = sandbox.path("secret.jsonl");
        fs::write(&secret, lines(3, 1)).unwrap();
        for file in [&file, &sandbox.home().join("projects/-w/new.jsonl")] {
            fs::remove_file(file).unwrap();
            match is_link {
                true => std::os::unix::fs::symlink(&secret, file).unwrap(),
                false => {
                    let made = std::process::Command::new("mkfifo").arg(file).status();
                    assert!(made.unwrap().success());
                }
            }
        }
        let opened: Vec<_> = files.into_iter().map(Input::open).collect();
        assert!(opened.len() == 2 && opened.iter().all(|opened| opened.is_err()));
    }
}
