//! `cc-etl sync`: imports what is new in Claude homes.

use super::{database_path, print};
use crate::changes::{self, ChangedFile, Changes};
use crate::cli::{Global, SyncArguments};
use crate::database::{self, Counts, DEMO_HOME, Loader, Stage, statements as sql};
use crate::discover::{self, Discovery, Stat};
use crate::error::{Error, Problem, Result};
use crate::import::{Commits, Input, import};
use crate::pipeline::Pipeline;
use crate::progress::Progress;
use crate::read::Bytes;
use crate::terminal::{byte_size, grouped, sanitize};
use crate::timestamp;
use rusqlite::{Connection, params};
use std::cell::RefCell;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};
use tempfile::TempDir;

/// Discovers, compares, imports, reports.
pub fn run(global: &Global, arguments: &SyncArguments) -> Result<()> {
    let started = Instant::now();
    let started_at = timestamp::now();
    let homes = homes(arguments)?;
    let path = database_path(global)?;
    let _lock = database::lock(&path)?;
    let target = Target::open(&path)?;
    refuse_mixture(&target.connection, arguments.demo)?;

    let mut report = Report::new(&path, started_at);
    let mut changes = Vec::new();
    for home in &homes {
        let source_id = source_id(&target.connection, arguments, home)?;
        let mut found =
            changes::compare(&target.connection, source_id, &home.found, home.is_complete)?;
        report.files += home.found.files.len();
        report.problems.extend(home.found.problems.iter().cloned());
        report.problems.append(&mut found.problems);
        report.note(&found);
        changes.push(found);
    }

    let progress = Progress::bytes(report.new_bytes, global.quiet || arguments.json);
    let mut loader = Loader::new(&target.connection)?;
    if arguments.index_tool_output {
        loader.index_tool_output()?;
    }
    for change in &changes {
        for (file_id, stat, is_racy) in &change.touched {
            loader.stamp(*file_id, stat, *is_racy)?;
        }
        for version in &change.counted {
            loader.count(version)?;
        }
        for file_id in &change.missing {
            loader.mark_missing(*file_id)?;
        }
    }
    let pipeline = Pipeline::new(arguments.threads.map(usize::from));
    let unopened = RefCell::new(Vec::new());
    let inputs = changes
        .into_iter()
        .flat_map(|change| change.files)
        .filter_map(|file| {
            open(file)
                .map_err(|problem| unopened.borrow_mut().push(problem))
                .ok()
        });
    let mut unread = import(inputs, &mut loader, &pipeline, target.commits, &progress)?;
    report.problems.append(&mut unread);
    report.problems.append(&mut unopened.into_inner());

    progress.message("indexing");
    target.settle(&mut loader)?;
    report.counts = loader.counts.clone();
    report.record(&target.connection)?;
    report.all_rejected = target
        .connection
        .query_row(sql::COUNT_REJECTED, [], |row| row.get(0))?;
    drop(loader);
    target.close()?;
    progress.finish();

    report.seconds = started.elapsed().as_secs_f64();
    report.print(global, arguments)?;
    report.verdict(arguments.strict)
}

/// A home to be read, and what was found in it.
struct Home {
    root: PathBuf,
    /// The name of the home in the database.
    name: String,
    found: Discovery,
    /// Whether all of it was looked at.
    is_complete: bool,
    /// Holds the demo while it is read.
    _folder: Option<TempDir>,
}

fn homes(arguments: &SyncArguments) -> Result<Vec<Home>> {
    if arguments.demo {
        return Ok(vec![demo_home()?]);
    }
    if let Some(transcript) = &arguments.file {
        let (root, found) = discover::discover_file(transcript)?;
        return Ok(vec![Home::new(root, found, false)?]);
    }
    let roots = match arguments.source.is_empty() {
        true => discover::default_homes()?,
        false => arguments.source.clone(),
    };
    let mut homes: Vec<Home> = Vec::new();
    for root in roots {
        let found = discover::discover(&root)?;
        let home = Home::new(root, found, true)?;
        // The same home under two names is one.
        if !homes.iter().any(|other| other.root == home.root) {
            homes.push(home);
        }
    }
    Ok(homes)
}

impl Home {
    fn new(root: PathBuf, found: Discovery, is_complete: bool) -> Result<Home> {
        let root = fs::canonicalize(&root).map_err(Error::io(&root))?;
        Ok(Home {
            name: root.display().to_string(),
            root,
            found,
            is_complete,
            _folder: None,
        })
    }
}

/// When the invented home was left: 2026-10-28 12:00 UTC.
const DEMO_TIME: Duration = Duration::from_secs(1_793_188_800);

/// The invented home, written to a temporary folder.
fn demo_home() -> Result<Home> {
    let temporary = std::env::temp_dir();
    let folder = tempfile::Builder::new()
        .prefix("cc-etl-demo-")
        .tempdir()
        .map_err(Error::io(&temporary))?;
    for (path, content) in DEMO_HOME {
        let file = folder.path().join(path);
        let parent = file.parent().expect("a file is in a folder");
        fs::create_dir_all(parent).map_err(Error::io(parent))?;
        fs::write(&file, content).map_err(Error::io(&file))?;
        let modified = FileTimes::new().set_modified(UNIX_EPOCH + DEMO_TIME);
        File::options()
            .write(true)
            .open(&file)
            .and_then(|file| file.set_times(modified))
            .map_err(Error::io(&file))?;
    }
    Ok(Home {
        root: folder.path().to_path_buf(),
        name: "demo".to_string(),
        found: discover::discover(folder.path())?,
        is_complete: true,
        _folder: Some(folder),
    })
}

/// Invented and real history do not belong into one database.
fn refuse_mixture(connection: &Connection, is_demo: bool) -> Result<()> {
    let (sources, demos): (i64, i64) =
        connection.query_row(sql::COUNT_SOURCES, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match (is_demo, sources - demos, demos) {
        (true, 1.., _) => Err(Error::Usage(
            "this database holds real history; name another one for the demo with --db FILE"
                .to_string(),
        )),
        (false, _, 1..) => Err(Error::Usage(
            "this database holds the demo; delete it, or name another one with --db FILE"
                .to_string(),
        )),
        _ => Ok(()),
    }
}

fn source_id(connection: &Connection, arguments: &SyncArguments, home: &Home) -> Result<i64> {
    let machine = match (&arguments.machine, arguments.demo) {
        (Some(name), _) => name.clone(),
        (None, true) => "demo".to_string(),
        (None, false) => host_name(),
    };
    let known = connection
        .prepare_cached(sql::FIND_SOURCE)?
        .query_row([&machine, &home.name], |row| row.get(0));
    match known {
        Err(rusqlite::Error::QueryReturnedNoRows) => {
            let mut insert = connection.prepare_cached(sql::INSERT_SOURCE)?;
            insert.execute([&machine, &home.name])?;
            Ok(connection.last_insert_rowid())
        }
        other => Ok(other?),
    }
}

fn host_name() -> String {
    let from_system = || fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let from_environment = || {
        ["COMPUTERNAME", "HOSTNAME"]
            .iter()
            .find_map(|name| std::env::var(name).ok())
    };
    from_system()
        .or_else(from_environment)
        .or_else(|| {
            let output = std::process::Command::new("hostname").output().ok()?;
            String::from_utf8(output.stdout).ok()
        })
        .map(|name| name.trim().to_string())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown".to_string())
}

/// Opens a changed file. Its stat is taken from what was opened.
fn open(file: ChangedFile) -> std::result::Result<Input, Problem> {
    let ChangedFile {
        absolute,
        mut version,
    } = file;
    let opened = File::open(&absolute).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|error| Problem::new(&absolute, error))?;
    let stat = Stat::of(&metadata);
    version.is_racy = changes::is_racy(&stat);
    version.stat = Some(stat);
    Ok(Input {
        name: absolute,
        version: Arc::new(version),
        bytes: Bytes::File(file),
        size: stat.size,
    })
}

/// The database that is written: the one that is there, or a new one that is built beside its place and put there when
/// it is whole.
struct Target {
    connection: Connection,
    path: PathBuf,
    building: Option<PathBuf>,
    commits: Commits,
}

impl Target {
    fn open(path: &Path) -> Result<Target> {
        if path.exists() {
            return Ok(Target {
                connection: database::open(path)?,
                path: path.to_path_buf(),
                building: None,
                commits: Commits::Often,
            });
        }
        let building = database::beside(path, ".building");
        match fs::remove_file(&building) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::Io(building, error));
            }
            // What a first sync left when it was killed is of no use.
            _ => {}
        }
        Ok(Target {
            connection: database::create(&building)?,
            path: path.to_path_buf(),
            building: Some(building),
            commits: Commits::ByCaller,
        })
    }

    /// Makes all rows permanent and brings the views up to date.
    fn settle(&self, loader: &mut Loader<'_>) -> Result<()> {
        if self.building.is_some() {
            loader.begin()?;
            database::create_stage(&self.connection, Stage::Loaded)?;
            loader.commit()?;
            database::create_stage(&self.connection, Stage::Resolved)?;
        }
        loader.commit()?;
        database::refresh_prices(&self.connection)?;
        database::refresh_words(&self.connection)?;
        database::refresh_views(&self.connection)
    }

    fn close(self) -> Result<()> {
        match self.building {
            None => database::close(self.connection),
            Some(building) => {
                database::finish_new(self.connection, &building)?;
                fs::rename(&building, &self.path).map_err(Error::io(&self.path))?;
                sync_folder(&self.path)
            }
        }
    }
}

/// Makes a rename permanent.
fn sync_folder(path: &Path) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(Error::io(folder))?;
    }
    Ok(())
}

/// What a run did, for people and for programs.
struct Report {
    database: PathBuf,
    started_at: String,
    files: usize,
    changed_files: usize,
    rewritten_files: usize,
    missing_files: usize,
    new_bytes: u64,
    counts: Counts,
    problems: Vec<Problem>,
    /// Fragments in the database that are no records, of this run and of earlier ones.
    all_rejected: i64,
    seconds: f64,
}

impl Report {
    fn new(database: &Path, started_at: String) -> Report {
        Report {
            database: database.to_path_buf(),
            started_at,
            files: 0,
            changed_files: 0,
            rewritten_files: 0,
            missing_files: 0,
            new_bytes: 0,
            counts: Counts::default(),
            problems: Vec::new(),
            all_rejected: 0,
            seconds: 0.0,
        }
    }

    fn note(&mut self, changes: &Changes) {
        self.changed_files += changes.files.len();
        self.rewritten_files += changes
            .files
            .iter()
            .filter(|file| file.version.is_rewrite())
            .count();
        self.missing_files += changes.missing.len();
        let sizes = changes.files.iter().map(|file| {
            let size = file.version.stat.map_or(0, |stat| stat.size);
            size.saturating_sub(file.version.size)
        });
        self.new_bytes += sizes.sum::<u64>();
    }

    /// Leaves a row about the run, unless there was nothing to do.
    fn record(&self, connection: &Connection) -> Result<()> {
        if self.changed_files == 0 {
            return Ok(());
        }
        let counts = &self.counts;
        connection
            .prepare_cached(sql::INSERT_SYNC_RUN)?
            .execute(params![
                env!("CARGO_PKG_VERSION"),
                self.files as i64,
                self.changed_files as i64,
                counts.bytes.cast_signed(),
                counts.lines,
                counts.messages,
                counts.copies,
                counts.events,
                counts.rejected,
                self.problems.len() as i64,
                self.started_at,
                timestamp::now(),
            ])?;
        Ok(())
    }

    fn print(&self, global: &Global, arguments: &SyncArguments) -> Result<()> {
        for problem in &self.problems {
            eprintln!("cc-etl: {}", sanitize(&problem.to_string()));
        }
        if global.quiet {
            return Ok(());
        }
        if arguments.json {
            return print(&self.json());
        }
        for line in &self.counts.rejected_examples {
            eprintln!("cc-etl: {}", sanitize(line));
        }
        let more = self.counts.rejected - self.counts.rejected_examples.len() as i64;
        if more > 0 {
            eprintln!(
                "cc-etl: and {} more; see the table rejected_lines",
                grouped(more)
            );
        }
        print(&sanitize(&self.summary()))
    }

    fn summary(&self) -> String {
        let counts = &self.counts;
        let number = |count: usize| grouped(count as i64);
        let mut text = format!("{}\n", self.database.display());
        let mut row = |name: &str, value: String| text.push_str(&format!("  {name:<9} {value}\n"));
        let mut files = format!(
            "{} found, {} read",
            number(self.files),
            number(self.changed_files)
        );
        for (count, what) in [
            (self.rewritten_files, "rewritten: the old version stays"),
            (self.missing_files, "gone: what they held stays"),
        ] {
            if count > 0 {
                files.push_str(&format!(", {} {what}", number(count)));
            }
        }
        row("files", files);
        if self.changed_files == 0 {
            row("new", "nothing".to_string());
        } else {
            row("bytes", byte_size(counts.bytes));
            row("lines", grouped(counts.lines));
            row(
                "messages",
                format!(
                    "{}, and {} copies",
                    grouped(counts.messages),
                    grouped(counts.copies)
                ),
            );
            row("events", grouped(counts.events));
            row("rejected", grouped(counts.rejected));
        }
        row("time", format!("{:.2} s", self.seconds));
        text.pop();
        text
    }

    fn json(&self) -> String {
        let counts = &self.counts;
        serde_json::json!({
            "database": self.database.display().to_string(),
            "files": self.files,
            "changed_files": self.changed_files,
            "rewritten_files": self.rewritten_files,
            "missing_files": self.missing_files,
            "bytes": counts.bytes,
            "lines": counts.lines,
            "messages": counts.messages,
            "copies": counts.copies,
            "events": counts.events,
            "rejected": counts.rejected,
            "problems": self.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "seconds": self.seconds,
        })
        .to_string()
    }

    /// How the run ends: what could not be read weighs more than what could not be parsed.
    fn verdict(&self, is_strict: bool) -> Result<()> {
        match (self.problems.len(), self.all_rejected) {
            (0, 0) => Ok(()),
            (0, rejected) if is_strict => Err(Error::Rejected(rejected.cast_unsigned())),
            (0, _) => Ok(()),
            (problems, _) => Err(Error::Unreadable(problems as u64)),
        }
    }
}
