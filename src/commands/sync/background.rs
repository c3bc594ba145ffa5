//! `cc-etl sync --detach`: a sync that outlives the program that asked for it.
//!
//! Claude Code waits for a hook until its standard output is closed, and ends it after a time limit. So the program starts
//! itself again, without any of its open files and in a process group of its own, and returns.
//!
//! **One waits for all.** A sync that has not begun yet will read everything that is written now. Of the syncs of the same homes
//! that wait for the lock of the database, the first holds `<database>.next-<hash of the homes>` until it has the lock; the
//! others end. A sync of one transcript waits by itself.
//!
//! **The log.** Nobody sees the messages of a background sync. `<database>.log` has its begin, its end and its error, and
//! `cc-etl doctor` reports a failure of the last one.

use super::homes::roots;
use crate::cli::{Global, SyncArguments};
use crate::commands::{database_path, print};
use crate::database::{
    self, Lock, Wait, create_private_folder, folder_of, open_private, with_suffix,
};
use crate::error::{Error, Result};
use crate::stop::Stop;
use crate::timestamp;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Starts the sync and returns.
pub fn start(global: &Global, arguments: &SyncArguments) -> Result<()> {
    // Claude Code takes exit code 2 of a hook as an order to Claude, so this must be another one.
    let path = database_path(global).map_err(|error| Error::NoSource(error.to_string()))?;
    let program = std::env::current_exe().map_err(Error::io("cc-etl"))?;
    let mut command = Command::new(&program);
    command
        .args(["sync", "--in-background", "--quiet"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match global.demo {
        true => command.arg("--demo"),
        false => &mut command,
    };
    command.arg("--db").arg(absolute(&path)?);
    for source in &arguments.source {
        command.arg("--source").arg(absolute(source)?);
    }
    if let Some(file) = &arguments.file {
        command.arg("--file").arg(absolute(file)?);
    }
    if let Some(machine) = &arguments.machine {
        command.arg("--machine").arg(machine);
    }
    if let Some(threads) = arguments.threads {
        command.arg("--threads").arg(threads.to_string());
    }
    if arguments.index_tool_output {
        command.arg("--index-tool-output");
    }
    if arguments.strict {
        command.arg("--strict");
    }
    detach(&mut command);
    command.spawn().map_err(Error::io(&program))?;
    match global.quiet {
        true => Ok(()),
        false => print("syncing in the background; cc-etl doctor reports if it fails"),
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io(path))
}

/// Lets the child outlive this process, its process group and its terminal.
#[cfg(unix)]
fn detach(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    // A new session has no terminal. The leader of a process group cannot begin one: that is a command typed into a shell.
    let _ = rustix::process::setsid();
    command.process_group(0);
    // Files that this process was started with: a pipe that stays open would let its reader wait.
    close_fds::set_fds_cloexec(3, &[]);
}

/// Lets the child outlive this process and its console.
#[cfg(windows)]
fn detach(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    const DETACHED_PROCESS: u32 = 0x8;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
}

/// Runs a sync in the background, unless another one waits already. Logs how it ends.
pub fn run(
    global: &Global,
    arguments: &SyncArguments,
    sync: impl FnOnce(Place) -> Result<()>,
) -> Result<()> {
    let path = database_path(global)?;
    let what = what(global, arguments);
    let result = match what.and_then(|what| Place::take(&path, what.as_deref())) {
        Ok(None) => return Ok(()),
        Ok(Some(place)) => sync(place),
        Err(error) => Err(error),
    };
    let end = match &result {
        Ok(()) => DONE.to_string(),
        Err(error) => format!("failed: {}", error.to_string().replace('\n', "; ")),
    };
    log(&path, &end)?;
    result
}

/// A name for what is to be synced; none if it is only a transcript.
fn what(global: &Global, arguments: &SyncArguments) -> Result<Option<String>> {
    let mut hasher = blake3::Hasher::new();
    for root in roots(global, arguments)? {
        let root = absolute(&root)?;
        hasher.update(root.as_os_str().as_encoded_bytes());
        hasher.update(b"\0");
    }
    let SyncArguments {
        machine,
        index_tool_output,
        strict,
        ..
    } = arguments;
    hasher.update(format!("{machine:?} {index_tool_output} {strict}").as_bytes());
    let hash = hasher.finalize().to_hex();
    Ok(arguments.file.is_none().then(|| hash[..8].to_string()))
}

/// The place of the one sync that waits for the lock.
pub struct Place {
    /// None if any number may wait.
    file: Option<File>,
}

impl Place {
    /// Takes the place; none if another sync has it.
    fn take(database: &Path, what: Option<&str>) -> Result<Option<Place>> {
        let Some(what) = what else {
            return Ok(Some(Place { file: None }));
        };
        let path = with_suffix(database, &format!(".next-{what}"));
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let file = open(&path, &mut options).map_err(Error::io(&path))?;
        let is_first = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => return Err(Error::Io(path, error)),
        };
        // The one that waits sees that another one came.
        file.set_modified(SystemTime::now())
            .map_err(Error::io(&path))?;
        Ok(is_first.then_some(Place { file: Some(file) }))
    }

    /// Waits for the lock of the database, then leaves the place: what is written from now on is for the next sync.
    pub fn lock(self, database: &Path, stop: &Stop) -> Result<Lock> {
        if let Some(file) = &self.file {
            settle(file, stop).map_err(Error::io(database))?;
        }
        let lock = database::lock(database, Wait::Forever, stop)?;
        drop(self.file);
        log(database, STARTED)?;
        Ok(lock)
    }
}

/// Waits for the end of a burst: several sessions may end at once.
fn settle(place: &File, stop: &Stop) -> io::Result<()> {
    const QUIET: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(1);
    const TICK: Duration = Duration::from_millis(10);
    let begun = Instant::now();
    while begun.elapsed() < LONGEST && !stop.is_requested() {
        let last = place.metadata()?.modified()?;
        // The clock may be set back.
        if last.elapsed().map_or(true, |quiet| quiet >= QUIET) {
            break;
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    create_private_folder(folder_of(path))?;
    open_private(path, options)
}

/// What a line of the log says.
pub const STARTED: &str = "started";
pub const DONE: &str = "done";

/// Logs longer than this lose their first half.
const LOG_BYTES: usize = 32 << 10;

/// The longest line: the name of a file can have 4096 bytes.
const LINE_BYTES: usize = 8 << 10;

fn log(database: &Path, what: &str) -> Result<()> {
    let path = with_suffix(database, ".log");
    append(&path, what).map_err(Error::io(&path))
}

fn append(path: &Path, what: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    let mut file = open(path, &mut options)?;
    file.lock()?;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    let mut line = format!("{} {what}", timestamp::now()).into_bytes();
    line.truncate(LINE_BYTES);
    line.push(b'\n');
    if content.len() + line.len() <= LOG_BYTES {
        return file.write_all(&line);
    }
    let middle = content.len().saturating_sub(LOG_BYTES / 2);
    let kept = content[middle..].iter().position(|byte| *byte == b'\n');
    let kept = kept.map_or(&[][..], |end| &content[middle + end + 1..]);
    file.rewind()?;
    file.write_all(kept)?;
    file.write_all(&line)?;
    let end = file.stream_position()?;
    file.set_len(end)
}

/// The last background sync, by the log.
pub struct LastRun {
    pub time: String,
    /// [`STARTED`] if it was killed, [`RUNNING`], [`DONE`], or how it failed.
    pub end: String,
}

pub const RUNNING: &str = "running";

impl LastRun {
    pub fn is_failure(&self) -> bool {
        ![DONE, RUNNING].contains(&self.end.as_str())
    }
}

/// The last background sync. A failure counts until there is another sync.
pub fn last_run(database: &Path) -> Option<LastRun> {
    let log = std::fs::read(with_suffix(database, ".log")).ok()?;
    let log = String::from_utf8_lossy(&log);
    let (time, what) = log.lines().last()?.split_once(' ')?;
    let end = match what {
        STARTED if is_locked(database) => RUNNING,
        what => what,
    };
    let run = LastRun {
        time: time.to_string(),
        end: end.to_string(),
    };
    let synced_at = database::recorded_sync(database);
    let is_past = synced_at.is_some_and(|synced_at| synced_at > run.time);
    (!run.is_failure() || !is_past).then_some(run)
}

fn is_locked(database: &Path) -> bool {
    let lock = File::open(with_suffix(database, ".lock"));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
