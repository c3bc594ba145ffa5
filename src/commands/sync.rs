//! `cc-etl sync`: imports new files and lines of Claude homes.

pub mod background;
mod homes;
mod replaced;
mod report;
mod target;
pub mod watch;

use super::{database_path, print, rebuild, warn};
use crate::cli::{Global, SyncArguments};
use crate::database::{self, Lock, Wait, statements as sql, upgrade};
use crate::error::{Error, Result};
use crate::failures::Failures;
use crate::file_diff::{ChangedFile, Changes, KnownFiles};
use crate::import::{Commits, Imported, Importer, finish_version};
use crate::limits;
use crate::load::{Loader, Written};
use crate::merge::{self, OtherDatabase};
use crate::pipeline::Pipeline;
use crate::progress::Progress;
use crate::stop::Stop;
use crate::store::Statements;
use crate::terminal::{counted, sanitize};
use crate::timestamp;
use background::Place;
use homes::{Home, homes, machine, roots};
use report::{Report, next_steps};
use rusqlite::Connection;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread::Builder;
use std::time::{Duration, Instant};
use target::Target;

/// Runs the sync here, or in the background.
pub fn run(global: &Global, arguments: &SyncArguments) -> Result<()> {
    if arguments.watch {
        return watch::run(global, arguments);
    }
    match (arguments.detach, arguments.in_background) {
        (true, _) => background::start(global, arguments),
        (false, true) => background::run(global, arguments, |place| {
            run_here(global, arguments, Some(place))
        }),
        (false, false) => run_here(global, arguments, None),
    }
}

/// Imports what other databases have and this one has not.
pub fn merge(global: &Global, arguments: &SyncArguments, others: Vec<OtherDatabase>) -> Result<()> {
    let request = Request {
        global,
        arguments,
        roots: Vec::new(),
        others,
        database: database_path(global)?,
        stop: Stop::listen()?,
    };
    run_request(&request, None)
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

/// What to sync, and where to.
struct Request<'a> {
    global: &'a Global,
    arguments: &'a SyncArguments,
    /// The folders of the homes.
    roots: Vec<PathBuf>,
    /// Databases to merge, instead of homes.
    others: Vec<OtherDatabase>,
    database: PathBuf,
    stop: Stop,
}

fn run_here(global: &Global, arguments: &SyncArguments, place: Option<Place>) -> Result<()> {
    run_request(&Request::new(global, arguments)?, place)
}

/// Syncs, reports.
fn run_request(request: &Request<'_>, place: Option<Place>) -> Result<()> {
    let (global, arguments) = (request.global, request.arguments);
    let is_first = !request.database.exists();
    let report = run_once(request, place)?;
    report.print(global, arguments)?;
    if is_first && !global.quiet && !arguments.json {
        print(&sanitize(&next_steps(global)))?;
    }
    request.stop.check()?;
    report.verdict(arguments.strict)
}

/// Takes the lock, and syncs.
fn run_once(request: &Request<'_>, place: Option<Place>) -> Result<Report> {
    let started = Instant::now();
    let mut lock = request.lock(place)?;
    let mut report = attempt_until_done(request.bulk_refusal(), |attempt| request.run(attempt))?;
    let damaged = limits::import(&request.database)?;
    if damaged > 0 {
        let lines = counted(damaged, "damaged line");
        warn(&format!("{lines} of the status line's file are left out"));
    }
    for other in &request.others {
        limits::merge(&request.database, &other.connection())?;
    }
    if request.others.is_empty() {
        lock.record_sync(&timestamp::now())
            .map_err(Error::io(&request.database))?;
    }
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

impl<'a> Request<'a> {
    fn new(global: &'a Global, arguments: &'a SyncArguments) -> Result<Self> {
        if global.demo && !arguments.source.is_empty() {
            return Err(Error::Usage(
                "--demo imports the demo home; leave out --source".to_string(),
            ));
        }
        Ok(Request {
            global,
            arguments,
            stop: Stop::listen()?,
            roots: roots(global, arguments)?,
            others: Vec::new(),
            database: database_path(global)?,
        })
    }

    fn lock(&self, place: Option<Place>) -> Result<Lock> {
        let wait = match self.arguments.wait {
            None if self.arguments.watch => Wait::Forever,
            None => Wait::No,
            Some(None) => Wait::Forever,
            Some(Some(seconds)) => Wait::UpTo(Duration::from_secs(seconds)),
        };
        match place {
            None => database::lock(&self.database, wait, &self.stop),
            Some(place) => place.lock(&self.database, &self.stop),
        }
    }

    /// With `CC_ETL_BULK=0` a sync uses statements only, which must write the same content.
    fn bulk_refusal(&self) -> Option<Error> {
        let is_refused = std::env::var_os("CC_ETL_BULK").is_some_and(|value| value == "0");
        is_refused.then(|| Error::NotInBulk("CC_ETL_BULK is 0".to_string()))
    }

    /// Runs one attempt. If it cannot fill all tables again, the next one adds the new rows.
    fn run(&self, attempt: &Attempt<'_>) -> Result<Report> {
        let mut report = Report::new(&self.database);
        report.problems.extend(attempt.failures.problems());
        let error = match sync(self, attempt, &mut report) {
            Ok(()) => return Ok(report),
            Err(error) => error.with_room(&self.database, report.needed_bytes()),
        };
        if report.plan != Plan::Refill || self.stop.is_requested() {
            return Err(error);
        }
        self.warn(&format!(
            "{error}; what is new is added to the tables one by one, which is slower"
        ));
        Err(Error::NotInBulk(error.to_string()))
    }

    fn warn(&self, text: &str) {
        if !self.global.quiet {
            warn(text);
        }
    }

    fn index_tool_output(&self, loader: &mut Loader<Statements<'_>>) -> Result<()> {
        match self.arguments.index_tool_output {
            true => loader.index_tool_output(),
            false => Ok(()),
        }
    }

    fn progress(&self, bytes: u64) -> Progress {
        Progress::bytes("reading", bytes, self.global.quiet || self.arguments.json)
    }
}

/// What the attempts before this one have shown.
struct Attempt<'a> {
    /// Chunks that failed with an internal error: they are archived but not loaded.
    failures: &'a Failures,
    /// Why statements are used, where whole tables could be written.
    refusal: Option<&'a Error>,
}

fn attempt_until_done<T>(
    mut refusal: Option<Error>,
    mut run: impl FnMut(&Attempt<'_>) -> Result<T>,
) -> Result<T> {
    let mut failures = Failures::of_sync();
    loop {
        let attempt = |failures: &Failures| {
            run(&Attempt {
                failures,
                refusal: refusal.as_ref(),
            })
        };
        match failures.attempt(attempt) {
            Err(error @ Error::NotInBulk(_)) if refusal.is_none() => refusal = Some(error),
            Err(error) => return Err(error),
            Ok(Some(done)) => return Ok(done),
            Ok(None) => {}
        }
    }
}

/// How new lines get into the database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// Write a new database page by page.
    Create,
    /// Fill all tables again, from the archive and the new lines, and build their indexes at the end.
    Refill,
    /// Insert rows with statements.
    Add,
}

/// Discovers files, compares them with the database, imports what is new, derives what depends on it.
fn sync(request: &Request<'_>, attempt: &Attempt<'_>, report: &mut Report) -> Result<()> {
    let (homes, opened) = find_homes_and_database(request, attempt)?;
    let mut target = opened.target;
    target.refuse_mixture(request.global.demo)?;
    let mut changes = compare(request, &homes, &target.connection, opened.known, report)?;
    let is_unchanged = opened.is_up_to_date
        && changes.iter().all(Changes::is_empty)
        && !request.arguments.index_tool_output;
    if is_unchanged {
        report.all_rejected = count_rejected(&target.connection)?;
        report.unfinished = target.close()?;
        return Ok(());
    }
    let archived = rebuild::archived_bytes(&target.connection)?;
    report.plan = plan(attempt, &target, report.new_bytes, archived)?;
    let (commits, archived) = match report.plan {
        Plan::Create => (Commits::ByCaller, 0),
        Plan::Refill => (Commits::ByCaller, archived),
        Plan::Add => (Commits::Often, 0),
    };
    let progress = request.progress(report.new_bytes + archived);
    let importer = Importer {
        pipeline: &Pipeline::new(request.arguments.threads.map(usize::from)),
        commits,
        progress: &progress,
        stop: &request.stop,
        failures: attempt.failures,
    };
    let (mut loader, imported) = match report.plan {
        Plan::Create => {
            let (created, written, imported) =
                create(request, &importer, target, &mut changes, report)?;
            target = created;
            (Loader::resume(&target.connection, written)?, imported)
        }
        Plan::Refill => {
            let mut loader = Loader::rebuild(&target.connection)?;
            request.index_tool_output(&mut loader)?;
            rebuild::load_archive(&mut loader, &target.connection, &target.path, &importer)?;
            loader.restart_counts();
            let imported = add(&importer, &mut loader, &mut changes, report)?;
            (loader, imported)
        }
        Plan::Add => {
            let mut loader = Loader::new(&target.connection)?;
            request.index_tool_output(&mut loader)?;
            let imported = add(&importer, &mut loader, &mut changes, report)?;
            (loader, imported)
        }
    };
    replaced::import(&importer, imported.replaced, &mut loader, report)?;

    progress.step("indexing");
    let building = target.building.as_deref();
    let is_shared = report.plan == Plan::Create && importer.pipeline.is_parallel();
    let shared = building.filter(|_| is_shared);
    let shared = shared.map(|building| (building, importer.pipeline));
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

/// The database before the import.
struct Opened {
    target: Target,
    known: KnownFiles,
    /// Whether nothing has to be derived again.
    is_up_to_date: bool,
}

/// Discovers the files of the homes. In parallel, opens an existing database. A new database is created only after the
/// discovery.
fn find_homes_and_database(
    request: &Request<'_>,
    attempt: &Attempt<'_>,
) -> Result<(Vec<Home>, Opened)> {
    let find = || homes(request.global, request.arguments, &request.roots);
    if !request.database.exists() {
        let homes = find()?;
        return Ok((homes, create_database(request, attempt)?));
    }
    std::thread::scope(|scope| {
        let finding = Builder::new().spawn_scoped(scope, find);
        let opened = open_database(request);
        let homes = match finding {
            Ok(finding) => finding
                .join()
                .unwrap_or_else(|panic| resume_unwind(panic))?,
            // The system refuses more threads.
            Err(_) => find()?,
        };
        Ok((homes, opened?))
    })
}

fn create_database(request: &Request<'_>, attempt: &Attempt<'_>) -> Result<Opened> {
    let target = Target::create(&request.database, attempt.refusal.is_none())?;
    if let Some(refusal) = attempt.refusal {
        request.warn(&format!("{refusal}; statements are used, which is slower"));
    }
    Ok(Opened {
        target,
        known: KnownFiles::default(),
        is_up_to_date: false,
    })
}

fn open_database(request: &Request<'_>) -> Result<Opened> {
    let target = Target::open(&request.database, request.global.quiet)?;
    let known = KnownFiles::read(&target.connection)?;
    let is_up_to_date = target.building.is_none() && database::is_up_to_date(&target.connection)?;
    Ok(Opened {
        target,
        known,
        is_up_to_date,
    })
}

/// Compares the files of the homes, or those of other databases, with the files in the database.
fn compare(
    request: &Request<'_>,
    homes: &[Home],
    connection: &Connection,
    mut known: KnownFiles,
    report: &mut Report,
) -> Result<Vec<Changes>> {
    let machine = machine(request.global, request.arguments);
    let compare = |home: &Home| {
        let source_id = machine.home(connection, &home.name)?;
        let mut changes = known.compare(connection, source_id, &home.found, home.is_complete)?;
        report.problems.extend(home.found.problems.iter().cloned());
        report.note(&home.name, home.found.files.len(), &mut changes);
        Ok(changes)
    };
    let mut changes: Vec<Changes> = homes.iter().map(compare).collect::<Result<_>>()?;
    for mut home in merge::compare(connection, &request.others)? {
        report.note(&home.root_path, home.file_count, &mut home.changes);
        changes.push(home.changes);
    }
    Ok(changes)
}

fn plan(attempt: &Attempt<'_>, target: &Target, new_bytes: u64, archived: u64) -> Result<Plan> {
    if attempt.refusal.is_some() {
        return Ok(Plan::Add);
    }
    if target.building.is_some() {
        return Ok(Plan::Create);
    }
    let is_refill = attempt.failures.is_empty()
        && is_mostly_new(new_bytes, archived)
        && upgrade::can_replace_tables(&target.connection)?;
    Ok(if is_refill { Plan::Refill } else { Plan::Add })
}

/// Whether so much is new that filling all tables again is faster. `CC_ETL_REFILL` overrides it: the content must be the
/// same.
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

/// Writes a new database page by page, and opens it.
fn create(
    request: &Request<'_>,
    importer: &Importer<'_>,
    mut target: Target,
    changes: &mut [Changes],
    report: &mut Report,
) -> Result<(Target, Written, Imported)> {
    let building = target.building.as_deref().expect("it is new");
    if request.arguments.index_tool_output {
        target.connection.execute_batch(sql::INDEX_TOOL_OUTPUT)?;
    }
    let mut loader = Loader::create(target.connection, building)?;
    for version in changes.iter().flat_map(|changes| &changes.counted) {
        loader.count_file(version)?;
    }
    let imported = importer.import_first(take_files(changes), &mut loader);
    report.counts = loader.counts.clone();
    let imported = report.note_problems(imported?);
    importer.progress.step("indexing");
    let written = loader.finish_pages(importer.pipeline)?;
    target.connection = database::open_new(building)?;
    target.writing = target::write_in_background(building);
    Ok((target, written, imported))
}

/// Updates the rows of files that are not read, and adds those of the others.
fn add(
    importer: &Importer<'_>,
    loader: &mut Loader<Statements<'_>>,
    changes: &mut [Changes],
    report: &mut Report,
) -> Result<Imported> {
    update_files(loader, changes, report)?;
    let imported = importer.import_files(take_files(changes), loader);
    report.counts = loader.counts.clone();
    Ok(report.note_problems(imported?))
}

/// The files to read.
fn take_files(changes: &mut [Changes]) -> Vec<ChangedFile> {
    let changes = changes.iter_mut();
    changes
        .flat_map(|changes| std::mem::take(&mut changes.files))
        .collect()
}

/// Updates the rows of files that are not read.
fn update_files(
    loader: &mut Loader<Statements<'_>>,
    changes: &[Changes],
    report: &mut Report,
) -> Result<()> {
    for changes in changes {
        for file_id in &changes.ended {
            let problem = finish_version(loader.connection(), *file_id, loader)?;
            report.problems.extend(problem);
        }
        for (file_id, stat, is_racy) in &changes.touched {
            loader.stamp_file(*file_id, stat, *is_racy)?;
        }
        for version in &changes.counted {
            loader.count_file(version)?;
        }
        for file_id in &changes.missing {
            loader.mark_missing(*file_id)?;
        }
    }
    Ok(())
}

/// The number of rejected fragments in the database.
fn count_rejected(connection: &Connection) -> Result<i64> {
    Ok(connection.query_row(sql::COUNT_REJECTED, [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_cannot_be_filled_page_by_page_is_filled_by_statements() {
        let mut refusals = Vec::new();
        let done = attempt_until_done(None, |attempt| {
            refusals.push(attempt.refusal.is_some());
            match attempt.refusal {
                None => Err(Error::NotInBulk("two rows have the same key".to_string())),
                Some(_) => Ok("done"),
            }
        });
        assert_eq!(done.unwrap(), "done");
        assert_eq!(refusals, [false, true]);
    }
}
