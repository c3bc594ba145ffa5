//! `cc-etl sync`: imports new files and lines of Claude homes.

pub mod background;
mod homes;
mod target;

use super::{database_path, print, rebuild, warn};
use crate::cli::{Global, SyncArguments};
use crate::database::{self, Wait, statements as sql, upgrade};
use crate::discover::{Discovery, SourceFile};
use crate::error::{Error, Problem, Result};
use crate::failures::Failures;
use crate::file_diff::{ChangedFile, Changes, KnownFiles};
use crate::import::{Commits, Input, finish_version, import, import_new};
use crate::load::{Counts, Loader};
use crate::machine::Machine;
use crate::pipeline::Pipeline;
use crate::progress::Progress;
use crate::stop::Stop;
use crate::store::Statements;
use crate::terminal::{byte_size, grouped, sanitize, sanitize_json};
use crate::timestamp;
use background::Place;
use homes::{Home, homes, roots};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};
use target::Target;

/// Runs the sync here, or in the background.
pub fn run(global: &Global, arguments: &SyncArguments) -> Result<()> {
    match (arguments.detach, arguments.in_background) {
        (true, _) => background::start(global, arguments),
        (false, true) => background::run(global, |place| run_here(global, arguments, Some(place))),
        (false, false) => run_here(global, arguments, None),
    }
}

/// Discovers, compares, imports, reports.
fn run_here(global: &Global, arguments: &SyncArguments, place: Option<Place>) -> Result<()> {
    let started = Instant::now();
    let stop = Stop::listen()?;
    let roots = roots(global, arguments)?;
    if global.demo && !arguments.source.is_empty() {
        return Err(Error::Usage(
            "--demo imports the demo home; leave out --source".to_string(),
        ));
    }
    let path = database_path(global)?;
    let mut lock = match place {
        None => database::lock(&path, wait(arguments), &stop)?,
        Some(place) => place.lock(&path, &stop)?,
    };
    let is_first = !path.exists();
    let mut report = attempt_until_done(Attempt::first(), |failures, refusal| {
        let mut report = Report::new(&path, timestamp::now());
        report.problems.extend(failures.problems());
        let attempt = (failures, refusal);
        let error = match sync(global, arguments, &roots, &stop, attempt, &mut report) {
            Ok(()) => return Ok(report),
            Err(error) => error.with_room(&path, report.needed_bytes()),
        };
        if !report.is_refill || stop.is_requested() {
            return Err(error);
        }
        if !global.quiet {
            warn(&format!(
                "{error}; what is new is added to the tables one by one, which is slower"
            ));
        }
        Err(Error::NotInBulk(error.to_string()))
    })?;
    lock.record_sync(&timestamp::now())
        .map_err(Error::io(&path))?;
    report.seconds = started.elapsed().as_secs_f64();
    report.print(global, arguments)?;
    if is_first && !global.quiet && !arguments.json {
        print(&sanitize(&next_steps(global)))?;
    }
    stop.check()?;
    report.verdict(arguments.strict)
}

/// What to try after a first sync.
fn next_steps(global: &Global) -> String {
    let options = match (&global.db, global.demo) {
        (Some(path), _) => format!("--db {} ", path.display()),
        (None, true) => "--demo ".to_string(),
        (None, false) => String::new(),
    };
    let steps = [
        ("", "today, the last 7 days and this month"),
        ("query", "list the questions, such as daily costs"),
        ("search WORDS", "search prompts, responses and commands"),
        ("show --last", "read the latest session"),
        ("sql", "open the database in sqlite3"),
        ("hook install", "let Claude Code start each further sync"),
    ];
    // Claude Code writes no demo.
    let steps = steps.iter().take(steps.len() - usize::from(global.demo));
    let commands: Vec<_> = steps
        .map(|(command, meaning)| (format!("cc-etl {options}{command}"), meaning))
        .collect();
    let width = commands.iter().map(|(command, _)| command.trim_end().len());
    let width = width.max().unwrap_or_default();
    let mut text = "\nNext:".to_string();
    for (command, meaning) in &commands {
        text += &format!("\n  {:<width$}  {meaning}", command.trim_end());
    }
    text
}

/// Imports the demo home, unless its database exists.
pub fn create_demo(global: &Global) -> Result<()> {
    if database_path(global)?.exists() {
        return Ok(());
    }
    let quiet = Global {
        quiet: true,
        ..global.clone()
    };
    run(&quiet, &SyncArguments::default())
}

fn wait(arguments: &SyncArguments) -> Wait {
    match arguments.wait {
        None => Wait::No,
        Some(None) => Wait::Forever,
        Some(Some(seconds)) => Wait::UpTo(Duration::from_secs(seconds)),
    }
}

/// The state of the attempts of a sync.
struct Attempt {
    /// Chunks that failed with an internal error: they are archived but not loaded.
    failures: Failures,
    /// Why the page writer refuses the new database, which is then filled with statements.
    refusal: Option<Error>,
}

impl Attempt {
    /// The first attempt. With `CC_ETL_BULK=0` it uses statements, which must write the same content.
    fn first() -> Attempt {
        let is_bulk = std::env::var_os("CC_ETL_BULK").is_none_or(|value| value != "0");
        Attempt {
            failures: Failures::of_sync(),
            refusal: (!is_bulk).then(|| Error::NotInBulk("CC_ETL_BULK is 0".to_string())),
        }
    }
}

fn attempt_until_done<T>(
    Attempt {
        mut failures,
        mut refusal,
    }: Attempt,
    mut run: impl FnMut(&Failures, Option<&Error>) -> Result<T>,
) -> Result<T> {
    loop {
        match failures.attempt(|failures| run(failures, refusal.as_ref())) {
            Err(error @ Error::NotInBulk(_)) if refusal.is_none() => refusal = Some(error),
            Err(error) => return Err(error),
            Ok(Some(done)) => return Ok(done),
            Ok(None) => {}
        }
    }
}

fn sync(
    global: &Global,
    arguments: &SyncArguments,
    roots: &[PathBuf],
    stop: &Stop,
    (failures, refusal): (&Failures, Option<&Error>),
    report: &mut Report,
) -> Result<()> {
    let is_bulk = refusal.is_none();
    let (homes, mut target, mut known) =
        homes_and_target(global, arguments, roots, &report.database, is_bulk)?;
    refuse_mixture(&target.connection, global.demo)?;
    if let (Some(refusal), Some(_), false) = (refusal, &target.building, global.quiet) {
        warn(&format!("{refusal}; statements are used, which is slower"));
    }

    let machine = machine(global, arguments);
    let mut changes = Vec::new();
    for home in &homes {
        report.homes.push(home.name.clone());
        let source_id = machine.home(&target.connection, &home.name)?;
        let mut found =
            known.compare(&target.connection, source_id, &home.found, home.is_complete)?;
        report.files += home.found.files.len();
        report.problems.extend(home.found.problems.iter().cloned());
        report.problems.append(&mut found.problems);
        report.note(&found);
        changes.push(found);
    }

    if target.building.is_none()
        && changes.iter().all(Changes::is_empty)
        && !arguments.index_tool_output
        && database::is_up_to_date(&target.connection)?
    {
        report.all_rejected = count_rejected(&target.connection)?;
        report.unfinished = database::close(target.connection, &target.path);
        return Ok(());
    }
    let archived = rebuild::archived_bytes(&target.connection)?;
    report.is_refill = is_bulk
        && failures.is_empty()
        && is_mostly_new(report.new_bytes, archived)
        && target.building.is_none()
        && upgrade::can_replace_tables(&target.connection)?;
    let bytes = report.new_bytes + if report.is_refill { archived } else { 0 };
    let progress = Progress::bytes("reading", bytes, global.quiet || arguments.json);
    let pipeline = Pipeline::new(arguments.threads.map(usize::from));
    let unopened = Mutex::new(Vec::new());
    let files: Vec<ChangedFile> = changes
        .iter_mut()
        .flat_map(|change| std::mem::take(&mut change.files))
        .collect();
    let mut inputs = files.into_iter().filter_map(|file| {
        Input::open(file)
            .map_err(|problem| unopened.lock().expect(NO_PANIC).push(problem))
            .ok()
            .flatten()
    });

    let mut written = None;
    let mut replaced = Vec::new();
    let pages = target.building.as_deref().filter(|_| is_bulk);
    let commits = match pages.is_some() || report.is_refill {
        true => Commits::ByCaller,
        false => Commits::Often,
    };
    if let Some(building) = pages {
        if arguments.index_tool_output {
            target.connection.execute_batch(sql::INDEX_TOOL_OUTPUT)?;
        }
        let mut loader = Loader::create(target.connection, building)?;
        for version in changes.iter().flat_map(|change| &change.counted) {
            loader.count_file(version)?;
        }
        let imported = import_new(
            &mut inputs,
            &mut loader,
            &pipeline,
            &progress,
            stop,
            failures,
        );
        report.counts = loader.counts.clone();
        let mut imported = imported?;
        report.problems.append(&mut imported.problems);
        replaced = imported.replaced;
        progress.step("indexing");
        written = Some(loader.finish_pages(&pipeline)?);
        let building = building.to_path_buf();
        target.connection = database::open_new(&building)?;
        let writing = Builder::new().spawn(move || database::sync_file(&building));
        target.writing = writing.ok();
    }
    let mut loader = match written {
        Some(written) => Loader::resume(&target.connection, written)?,
        None => {
            let connection = &target.connection;
            let mut loader = match report.is_refill {
                true => Loader::rebuild(connection)?,
                false => Loader::new(connection)?,
            };
            if arguments.index_tool_output {
                loader.index_tool_output()?;
            }
            if report.is_refill {
                let path = &target.path;
                rebuild::load_archive(
                    &mut loader,
                    connection,
                    path,
                    &pipeline,
                    &progress,
                    stop,
                    failures,
                )?;
                loader.restart_counts();
            }
            note(&target.connection, &mut loader, &changes, report)?;
            let imported = import(
                &mut inputs,
                &mut loader,
                &pipeline,
                commits,
                &progress,
                stop,
                failures,
            );
            report.counts = loader.counts.clone();
            let mut imported = imported?;
            report.problems.append(&mut imported.problems);
            replaced = imported.replaced;
            loader
        }
    };
    report
        .problems
        .append(&mut unopened.into_inner().expect(NO_PANIC));
    let again = Again {
        connection: &target.connection,
        pipeline: &pipeline,
        commits,
        progress: &progress,
        stop,
        failures,
    };
    again.read(replaced, &mut loader, report)?;

    progress.step("indexing");
    let shared = pages.filter(|_| pipeline.is_parallel());
    let shared = shared.map(|building| (building, &pipeline));
    // Lines that were deferred are only counted by then.
    loader.finish_with(shared, |connection, counts| {
        report.counts = counts.clone();
        report.record(connection)
    })?;
    report.failures = std::mem::take(&mut loader.failures);
    report.all_rejected = count_rejected(&target.connection)?;
    drop(loader);
    report.unfinished = target.close()?;
    progress.finish();
    Ok(())
}

/// Whether so much is new that it is faster to fill all tables again, from the archive and the new files, and to build
/// their indexes at the end. `CC_ETL_REFILL` overrides it: the content must be the same.
fn is_mostly_new(new_bytes: u64, archived_bytes: u64) -> bool {
    /// With less, a sync is short anyway.
    const LEAST_BYTES: u64 = 64 << 20;
    match std::env::var("CC_ETL_REFILL").as_deref() {
        Ok("0") => false,
        Ok("1") => true,
        // Per byte, filling from the archive costs about half as much as adding rows one by one.
        _ => new_bytes >= LEAST_BYTES && new_bytes / 2 > archived_bytes,
    }
}

/// Reads files that were replaced while they were read once more: what they hold now is another version.
struct Again<'a> {
    connection: &'a Connection,
    pipeline: &'a Pipeline,
    commits: Commits,
    progress: &'a Progress,
    stop: &'a Stop,
    failures: &'a Failures,
}

impl Again<'_> {
    /// After this many attempts, a file that is still changing is left to the next sync.
    const ATTEMPTS: usize = 3;

    fn read(
        &self,
        mut replaced: Vec<Arc<Input>>,
        loader: &mut Loader<Statements<'_>>,
        report: &mut Report,
    ) -> Result<()> {
        for _ in 0..Self::ATTEMPTS {
            if replaced.is_empty() || self.stop.is_requested() {
                return Ok(());
            }
            replaced = self.attempt(&replaced, loader, report)?;
        }
        let left = replaced.iter().map(|input| {
            let message = "it keeps changing while it is read; the next sync reads it";
            Problem::new(&input.name, message)
        });
        report.problems.extend(left);
        Ok(())
    }

    fn attempt(
        &self,
        replaced: &[Arc<Input>],
        loader: &mut Loader<Statements<'_>>,
        report: &mut Report,
    ) -> Result<Vec<Arc<Input>>> {
        let mut homes: BTreeMap<i64, Discovery> = BTreeMap::new();
        for input in replaced {
            let version = &input.version;
            let home = homes.entry(version.source_id).or_default();
            home.files.push(SourceFile {
                absolute: input.name.clone(),
                path: version.path.clone(),
                path_bytes: version.path_bytes.clone(),
                stat: version.stat.expect("it was read from a home"),
            });
        }
        // The comparison needs the rows of the parts read before.
        loader.begin()?;
        loader.close_file()?;
        let mut known = KnownFiles::read(self.connection)?;
        let mut files = Vec::new();
        for (source_id, home) in homes {
            let mut changes = known.compare(self.connection, source_id, &home, false)?;
            report.problems.append(&mut changes.problems);
            report.rewritten_files += changes.rewritten().count();
            files.append(&mut changes.files);
            note(self.connection, loader, &[changes], report)?;
        }
        let mut unopened = Vec::new();
        let inputs = files.into_iter().filter_map(|file| {
            Input::open(file)
                .map_err(|problem| unopened.push(problem))
                .ok()
                .flatten()
        });
        let (pipeline, progress) = (self.pipeline, self.progress);
        let imported = import(
            inputs,
            loader,
            pipeline,
            self.commits,
            progress,
            self.stop,
            self.failures,
        )?;
        report.problems.extend(imported.problems);
        report.problems.append(&mut unopened);
        Ok(imported.replaced)
    }
}

/// Why a lock is never poisoned.
const NO_PANIC: &str = "adding to a list does not panic";

/// Updates the rows of files that are not read.
fn note(
    connection: &Connection,
    loader: &mut Loader<Statements<'_>>,
    changes: &[Changes],
    report: &mut Report,
) -> Result<()> {
    for change in changes {
        for file_id in &change.ended {
            let problem = finish_version(connection, *file_id, loader)?;
            report.problems.extend(problem);
        }
        for (file_id, stat, is_racy) in &change.touched {
            loader.stamp_file(*file_id, stat, *is_racy)?;
        }
        for version in &change.counted {
            loader.count_file(version)?;
        }
        for file_id in &change.missing {
            loader.mark_missing(*file_id)?;
        }
    }
    Ok(())
}

/// Discovers the files of the homes. In parallel, opens an existing database and reads its files. A new database is created only
/// after the discovery.
fn homes_and_target(
    global: &Global,
    arguments: &SyncArguments,
    roots: &[PathBuf],
    path: &Path,
    is_bulk: bool,
) -> Result<(Vec<Home>, Target, KnownFiles)> {
    if !path.exists() {
        let homes = homes(global, arguments, roots)?;
        let target = Target::create(path, is_bulk)?;
        return Ok((homes, target, KnownFiles::default()));
    }
    std::thread::scope(|scope| {
        let look = || homes(global, arguments, roots);
        let looking = Builder::new().spawn_scoped(scope, look);
        let opened = Target::open(path, global.quiet).and_then(|target| {
            let known = KnownFiles::read(&target.connection)?;
            Ok((target, known))
        });
        let homes = match looking {
            Ok(looking) => looking
                .join()
                .unwrap_or_else(|panic| resume_unwind(panic))?,
            // The system refuses more threads.
            Err(_) => look()?,
        };
        let (target, known) = opened?;
        Ok((homes, target, known))
    })
}

/// The number of rejected fragments in the database.
fn count_rejected(connection: &Connection) -> Result<i64> {
    Ok(connection.query_row(sql::COUNT_REJECTED, [], |row| row.get(0))?)
}

/// The demo and real history must not be in one database.
fn refuse_mixture(connection: &Connection, is_demo: bool) -> Result<()> {
    let (sources, demos): (i64, i64) =
        connection.query_row(sql::COUNT_SOURCES, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match (is_demo, sources - demos, demos) {
        (true, 1.., _) => Err(Error::Usage(
            "this database holds real history; name another file for the demo: --demo --db demo.db"
                .to_string(),
        )),
        (false, _, 1..) => Err(Error::Usage(
            "this database holds the demo; name another file for your history with --db FILE, or leave out --db"
                .to_string(),
        )),
        _ => Ok(()),
    }
}

/// The machine whose homes are synced.
fn machine(global: &Global, arguments: &SyncArguments) -> Machine {
    match (&arguments.machine, global.demo) {
        (Some(name), _) => Machine::with_name(name),
        (None, true) => Machine::named("demo"),
        (None, false) => Machine::this_with_id(),
    }
}

/// The results of a run, for people and for programs.
struct Report {
    database: PathBuf,
    /// The homes that were read.
    homes: Vec<String>,
    started_at: String,
    files: usize,
    changed_files: usize,
    rewritten_files: usize,
    missing_files: usize,
    new_bytes: u64,
    /// Whether all tables are filled again.
    is_refill: bool,
    counts: Counts,
    problems: Vec<Problem>,
    /// Scripts that failed.
    failures: Vec<Problem>,
    /// Rejected fragments in the database, of this run and of earlier ones.
    all_rejected: i64,
    /// An optional step at the end that failed.
    unfinished: Option<Problem>,
    seconds: f64,
}

impl Report {
    fn new(database: &Path, started_at: String) -> Report {
        Report {
            database: database.to_path_buf(),
            homes: Vec::new(),
            started_at,
            files: 0,
            changed_files: 0,
            rewritten_files: 0,
            missing_files: 0,
            new_bytes: 0,
            is_refill: false,
            counts: Counts::default(),
            problems: Vec::new(),
            failures: Vec::new(),
            all_rejected: 0,
            unfinished: None,
            seconds: 0.0,
        }
    }

    fn note(&mut self, changes: &Changes) {
        self.changed_files += changes.files.len();
        self.rewritten_files += changes.rewritten().count();
        self.missing_files += changes.missing.len();
        self.new_bytes += changes.new_bytes();
    }

    /// The disk space that the rest of the run may need: the database is at most as large as its sources, plus the journal.
    fn needed_bytes(&self) -> u64 {
        const JOURNAL_BYTES: u64 = 32 << 20;
        self.new_bytes.saturating_sub(self.counts.bytes) + JOURNAL_BYTES
    }

    /// Records the run, unless no file changed.
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
        let problems = self.problems.iter().chain(&self.failures);
        for problem in problems.chain(&self.unfinished) {
            warn(&problem.to_string());
        }
        if global.quiet {
            return Ok(());
        }
        if arguments.json {
            return print(&sanitize_json(&self.json()));
        }
        for line in &self.counts.rejected_examples {
            warn(line);
        }
        let more = self.counts.rejected - self.counts.rejected_examples.len() as i64;
        if more > 0 {
            warn(&format!(
                "and {} more; see the table rejected_lines",
                grouped(more)
            ));
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
            (self.rewritten_files, "rewritten (old versions are kept)"),
            (self.missing_files, "gone (their rows are kept)"),
        ] {
            if count > 0 {
                files.push_str(&format!(", {} {what}", number(count)));
            }
        }
        const NAMED_HOMES: usize = 5;
        for home in self.homes.iter().take(NAMED_HOMES) {
            row("home", home.clone());
        }
        if let Some(more @ 1..) = self.homes.len().checked_sub(NAMED_HOMES) {
            row("home", format!("and {} more", number(more)));
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
            "homes": self.homes,
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
            "problems": self.problems.iter().chain(&self.failures).map(ToString::to_string).collect::<Vec<_>>(),
            "seconds": self.seconds,
        })
        .to_string()
    }

    /// The result of the run: unreadable files are worse than rejected lines.
    fn verdict(&self, is_strict: bool) -> Result<()> {
        match (self.problems.len(), self.all_rejected) {
            (0, _) if !self.failures.is_empty() => {
                Err(Error::Underived(self.failures.len() as u64))
            }
            (0, 0) => Ok(()),
            (0, rejected) if is_strict => Err(Error::Rejected(rejected.cast_unsigned())),
            (0, _) => Ok(()),
            (problems, _) => Err(Error::Unreadable(problems as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_cannot_be_filled_page_by_page_is_filled_by_statements() {
        let mut refusals = Vec::new();
        let first = Attempt {
            failures: Failures::of_sync(),
            refusal: None,
        };
        let done = attempt_until_done(first, |_, refusal| {
            refusals.push(refusal.is_some());
            match refusal {
                None => Err(Error::NotInBulk("two rows have the same key".to_string())),
                Some(_) => Ok("done"),
            }
        });
        assert_eq!(done.unwrap(), "done");
        assert_eq!(refusals, [false, true]);
    }
}
