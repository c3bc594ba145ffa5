//! The ways in which a home comes into a database, and what must be true of each of them.

use crate::case::{Case, Change, File, kept};
use crate::sandbox::Sandbox;
use crate::sandbox::content::{Content, content, differences, reverse_keys};
use cc_etl::database;
use cc_etl::discover::{Reading, classify};
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs::{self, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// What was not as it must be: a title, by which the minimizer knows it again, and the rest.
#[derive(Clone)]
pub struct Failure {
    pub what: String,
    pub details: String,
}

type Outcome = Result<(), Failure>;

/// A way, by its name.
pub type Leg = (&'static str, fn(&Ways) -> Outcome);

pub const LEGS: &[Leg] = &[
    ("one clean sync", one_clean_sync),
    ("another order, more threads", another_order),
    ("by statements", by_statements),
    ("several syncs of growing files", growing_files),
    ("one file at a time", one_file_at_a_time),
    ("two homes", two_homes),
    ("rewritten files", rewritten_files),
];

/// A case and what one clean sync makes of it.
pub struct Ways<'a> {
    case: &'a Case,
    clean: OnceCell<Result<Content, Failure>>,
}

impl Ways<'_> {
    pub fn of(case: &Case) -> Ways<'_> {
        Ways {
            case,
            clean: OnceCell::new(),
        }
    }

    /// What every other way must give.
    fn clean(&self) -> Result<&Content, Failure> {
        let made = || {
            let home = Home::new(self.case);
            home.write_all(0);
            home.sync(&["--threads", "1"]).and_then(|()| home.content())
        };
        self.clean
            .get_or_init(made)
            .as_ref()
            .map_err(Failure::clone)
    }
}

fn one_clean_sync(ways: &Ways) -> Outcome {
    let home = Home::new(ways.case);
    home.write_all(0);
    home.sync(&["--threads", "1"])?;
    home.check_deeply()?;
    home.run(&["check", "--sources"])?;
    home.is(ways.clean()?)?;
    home.restores()?;
    home.sync(&[])?;
    home.is(ways.clean()?)?;
    home.run(&["rebuild"])?;
    home.is(ways.clean()?)
}

fn another_order(ways: &Ways) -> Outcome {
    let home = Home::new(ways.case);
    for (number, file) in ways.case.files(0) {
        home.write(0, file, &file.content(), 1000 - file.age + number as u64);
    }
    home.sync(&["--threads", &ways.case.threads.to_string()])?;
    home.is(ways.clean()?)?;
    home.reverse_keys()?;
    home.is(ways.clean()?)?;
    home.check_deeply()
}

fn by_statements(ways: &Ways) -> Outcome {
    let home = Home::new(ways.case);
    home.write_all(0);
    home.sync_by_statements(&[])?;
    home.check_deeply()?;
    home.is(ways.clean()?)
}

fn growing_files(ways: &Ways) -> Outcome {
    let home = Home::new(ways.case);
    for (number, cuts) in kept(&ways.case.steps) {
        for (file_number, file) in ways.case.files(0) {
            let content = file.content();
            let length = content.len() * cuts[file_number] / 1000;
            if length > 0 {
                home.write(0, file, &content[..length], file.age + number as u64);
            }
        }
        home.sync_or_refill(number)?;
        home.check()?;
    }
    home.write_all(0);
    home.sync_or_refill(ways.case.threads)?;
    home.check_deeply()?;
    home.is(ways.clean()?)?;
    home.restores()?;
    for (_, file) in ways.case.files(0) {
        fs::remove_file(home.place(0, file)).expect("the file is there");
    }
    home.sync(&[])?;
    home.is(ways.clean()?)
}

fn one_file_at_a_time(ways: &Ways) -> Outcome {
    let home = Home::new(ways.case);
    for &number in &ways.case.order {
        let file = &ways.case.homes[0][number];
        if file.is_dropped {
            continue;
        }
        let path = home.write(0, &file.value, &file.value.content(), file.value.age);
        let is_transcript = file.value.path.starts_with(b"projects/") && is_archived(&file.value);
        match path.to_str() {
            Some(path) if is_transcript && number % 2 == 0 => {
                home.run(&["sync", "--machine", "test", "--file", path])?;
            }
            _ => home.sync(&[])?,
        }
    }
    home.sync(&[])?;
    home.check()?;
    home.is(ways.clean()?)
}

fn two_homes(ways: &Ways) -> Outcome {
    let together = Home::new(ways.case);
    together.write_all(0);
    together.write_all(1);
    match ways.case.has_two_machines {
        // What was synced at once was synced by one.
        true => [0, 1]
            .into_iter()
            .try_for_each(|number| together.sync_as_machine(number))?,
        false => together.sync_homes(&[0, 1], &["--threads", "1"])?,
    }
    together.check_deeply()?;
    let content = together.content()?;
    for order in [[0, 1], [1, 0]] {
        let home = Home::new(ways.case);
        for number in order {
            home.write_all(number);
            home.sync_as_machine(number)?;
        }
        home.is(&content)?;
    }
    Ok(())
}

fn rewritten_files(ways: &Ways) -> Outcome {
    let home = Home::new(ways.case);
    home.write_all(0);
    home.sync(&[])?;
    let case = ways.case;
    for (number, rewrite) in kept(&case.rewrites) {
        let file = &case.homes[0][rewrite.file];
        if file.is_dropped {
            continue;
        }
        let file = &file.value;
        let path = home.place(0, file);
        let before = fs::read(&path).unwrap_or_default();
        let original = |number: usize| {
            let other = &case.homes[0][number];
            (!other.is_dropped).then(|| other.value.content())
        };
        let content = match rewrite.change {
            Change::Truncate(cut) => Some(before[..before.len() * cut / 1000].to_vec()),
            Change::ReplaceBy(other) => original(other),
            Change::DropLine(line) => Some(without_line(&before, line)),
            Change::OtherByte(position) => Some(with_other_byte(before, position)),
            Change::AppendFrom(other) => original(other).map(|other| [before, other].concat()),
            Change::Remove => None,
            Change::Restore => Some(file.content()),
        };
        match content {
            Some(content) => {
                home.write(0, file, &content, file.age + 2000 + number as u64);
            }
            None if path.exists() => fs::remove_file(&path).expect("the file is there"),
            None => {}
        }
        home.sync_or_refill(number)?;
        home.check()?;
    }
    home.check_deeply()?;
    home.restores_what_is_there()?;
    let content = home.content()?;
    home.run(&["rebuild"])?;
    home.is(&content)
}

fn without_line(content: &[u8], number: usize) -> Vec<u8> {
    let lines = content.split_inclusive(|byte| *byte == b'\n').enumerate();
    let kept = lines.filter(|(line, _)| *line != number);
    kept.flat_map(|(_, line)| line.to_vec()).collect()
}

fn with_other_byte(mut content: Vec<u8>, position: usize) -> Vec<u8> {
    let position = content.len() * position / 1000;
    if let Some(byte) = content.get_mut(position) {
        *byte = if *byte == b'x' { b'y' } else { b'x' };
    }
    content
}

/// A home, or two, and a database.
struct Home<'a> {
    sandbox: Sandbox,
    case: &'a Case,
}

/// No command on a home of this size takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

impl Home<'_> {
    fn new(case: &Case) -> Home<'_> {
        let sandbox = Sandbox::in_memory();
        for number in [0, 1] {
            fs::create_dir_all(root(&sandbox, number)).expect("the folder is ours");
        }
        Home { sandbox, case }
    }

    fn place(&self, home: usize, file: &File) -> PathBuf {
        root(&self.sandbox, home).join(OsStr::from_bytes(&file.path))
    }

    fn write_all(&self, home: usize) {
        for (_, file) in self.case.files(home) {
            self.write(home, file, &file.content(), file.age);
        }
    }

    fn write(&self, home: usize, file: &File, content: &[u8], age: u64) -> PathBuf {
        let path = self.place(home, file);
        let folder = path.parent().expect("it is in a folder");
        fs::create_dir_all(folder).expect("the folder is ours");
        fs::write(&path, content).expect("the folder is ours");
        let modified = UNIX_EPOCH + Duration::from_secs(1_700_000_000 + age);
        let times = FileTimes::new().set_modified(modified);
        let written = fs::File::options().write(true).open(&path);
        let dated = written.and_then(|file| file.set_times(times));
        dated.expect("the file is ours");
        path
    }

    fn sync(&self, options: &[&str]) -> Outcome {
        self.sync_homes(&[0], options)
    }

    fn sync_homes(&self, homes: &[usize], options: &[&str]) -> Outcome {
        self.execute(self.sync_command(homes, options))
    }

    fn sync_as_machine(&self, home: usize) -> Outcome {
        let machine = match (self.case.has_two_machines, home) {
            (true, 1) => "other",
            _ => "test",
        };
        self.sync_homes(&[home], &["--machine", machine])
    }

    /// A first sync that does not write the pages of the database itself.
    fn sync_by_statements(&self, options: &[&str]) -> Outcome {
        let mut command = self.sync_command(&[0], options);
        command.env("CC_ETL_BULK", "0");
        self.execute(command)
    }

    /// A sync that adds to the tables, or one that fills all of them again, in turn.
    fn sync_or_refill(&self, number: usize) -> Outcome {
        let mut command = self.sync_command(&[0], &[]);
        command.env(
            "CC_ETL_REFILL",
            if number.is_multiple_of(2) { "1" } else { "0" },
        );
        self.execute(command)
    }

    fn sync_command(&self, homes: &[usize], options: &[&str]) -> Command {
        let mut command = self.sandbox.command(&["sync"]);
        if !options.contains(&"--machine") {
            command.args(["--machine", "test"]);
        }
        for home in homes {
            command.arg("--source").arg(root(&self.sandbox, *home));
        }
        if self.case.indexes_tool_output {
            command.arg("--index-tool-output");
        }
        command.args(options);
        command
    }

    fn check(&self) -> Outcome {
        self.run(&["check"])
    }

    /// Derives everything again, and makes the search index anew.
    fn check_deeply(&self) -> Outcome {
        self.run(&["check", "--deep"])
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.execute(self.sandbox.command(arguments))
    }

    /// Runs the program, which must end, and succeed.
    fn execute(&self, mut command: Command) -> Outcome {
        let name = command.get_args().next().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let output = self.sandbox.path("output");
        let file = fs::File::create(&output).expect("the folder is ours");
        let errors = file.try_clone().expect("the file is open");
        command
            .arg("--quiet")
            .stdout(file)
            .stderr(errors)
            .stdin(Stdio::null());
        let mut child = command.spawn().expect("the program is there");
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().expect("it is our child") {
                Some(status) => break Some(status),
                None if begun.elapsed() > PATIENCE => {
                    child.kill().expect("it is our child");
                    child.wait().expect("it is our child");
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let said = || {
            let said = fs::read(&output).expect("the file is ours");
            String::from_utf8_lossy(&said).into_owned()
        };
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(failure(
                &format!("{name} fails"),
                format!("{status}\n{}", said()),
            )),
            None => Err(failure(&format!("{name} does not end"), said())),
        }
    }

    fn content(&self) -> Result<Content, Failure> {
        let connection = database::open_read_only(&self.sandbox.database());
        let read = connection.and_then(|mut connection| content(&mut connection));
        read.map_err(|error| failure("a view cannot be read", error.to_string()))
    }

    fn reverse_keys(&self) -> Outcome {
        let connection = rusqlite::Connection::open(self.sandbox.database());
        let reversed = connection
            .map_err(Into::into)
            .and_then(|connection| reverse_keys(&connection));
        reversed.map_err(|error| failure("keys cannot be reversed", error.to_string()))
    }

    /// Compares the content of the database.
    fn is(&self, expected: &Content) -> Outcome {
        match differences(expected, &self.content()?) {
            Some((name, details)) => Err(failure(&format!("{name} is not the same"), details)),
            None => Ok(()),
        }
    }

    /// Writes the files back and compares them with those that the case began with.
    fn restores(&self) -> Outcome {
        let out = self.restored()?;
        for (_, file) in self.case.files(0).filter(|(_, file)| is_archived(file)) {
            same_bytes(&out, file, &file.content())?;
        }
        self.sandbox_is_clear_of_secrets()
    }

    /// Writes the files back and compares them with those that are there now.
    fn restores_what_is_there(&self) -> Outcome {
        let out = self.restored()?;
        for (_, file) in self.case.files(0).filter(|(_, file)| is_archived(file)) {
            match fs::read(self.place(0, file)) {
                Ok(content) => same_bytes(&out, file, &content)?,
                Err(_) => continue,
            }
        }
        Ok(())
    }

    fn restored(&self) -> Result<PathBuf, Failure> {
        let out = self.sandbox.path("restored");
        let name = out.to_str().expect("the folder is ours");
        self.run(&["restore", "--out", name])?;
        Ok(out)
    }

    /// What may hold secrets is not restored, since it was never read.
    fn sandbox_is_clear_of_secrets(&self) -> Outcome {
        match self.sandbox.path("restored/.credentials.json").exists() {
            true => Err(failure("a secret was read", String::new())),
            false => Ok(()),
        }
    }
}

fn root(sandbox: &Sandbox, home: usize) -> PathBuf {
    match home {
        0 => sandbox.home(),
        _ => sandbox.path("second home"),
    }
}

fn failure(what: &str, details: String) -> Failure {
    Failure {
        what: what.to_string(),
        details,
    }
}

fn is_archived(file: &File) -> bool {
    classify(&String::from_utf8_lossy(&file.path)).reading != Reading::Count
}

fn same_bytes(out: &Path, file: &File, expected: &[u8]) -> Outcome {
    let restored = fs::read(out.join(OsStr::from_bytes(&file.path)));
    match restored {
        // A file without a byte has no chunk to restore it from.
        Err(_) if expected.is_empty() => Ok(()),
        Ok(bytes) if bytes == expected => Ok(()),
        Ok(_) => Err(failure(
            "a file is restored with other bytes",
            file.path.escape_ascii().to_string(),
        )),
        Err(error) => Err(failure(
            "a file is not restored",
            format!("{}: {error}", file.path.escape_ascii()),
        )),
    }
}
