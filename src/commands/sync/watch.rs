//! `cc-etl sync --watch`: a sync whenever a transcript has new lines, until a signal ends it.
//!
//! Between two syncs only the watches are open: neither the lock nor the database. A watch can be lost without a word, so
//! there is a sync every few minutes anyway; where folders cannot be watched, every few seconds.

use super::{Request, run_once};
use crate::cli::{Global, SyncArguments};
use crate::commands::sync::homes::roots;
use crate::commands::{print, warn};
use crate::database::{create_private_folder, folder_of, open_private, with_suffix};
use crate::discover;
use crate::error::{Error, Result};
use crate::stop::Stop;
use crate::terminal::{counted, sanitize};
use crate::timestamp;
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A sync begins when nothing was written for this long, so that it reads all lines of a response.
const QUIET: Duration = Duration::from_millis(150);

/// While lines keep coming, a sync begins this long after the first.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The time between two syncs if nothing is seen to change.
const SAFETY_INTERVAL: Duration = Duration::from_secs(600);

/// The same where folders cannot be watched.
const POLL_INTERVAL: Duration = Duration::from_secs(15);

/// How often to see whether a signal came.
const TICK: Duration = Duration::from_millis(200);

pub fn run(global: &Global, arguments: &SyncArguments) -> Result<()> {
    if global.demo {
        let message = "nothing writes the demo; leave out --demo";
        return Err(Error::Usage(message.to_string()));
    }
    let mut request = Request::new(global, arguments)?;
    let _only = take_place(&request.database)?;
    let mut watches = Watches::new(&request.database);
    let mut said = String::new();
    loop {
        // First the watches: what is written during the sync is for the next one.
        watches.update(&request.roots);
        let begun = Instant::now();
        let problems = match run_once(&request, None) {
            Ok(report) => {
                if report.changed_files > 0 && !global.quiet {
                    print(&sanitize(&format!(
                        "{}  {} of {}, {:.2} s",
                        timestamp::now(),
                        counted(report.counts.lines, "line"),
                        counted(report.changed_files as i64, "file"),
                        report.seconds
                    )))?;
                }
                let problems = report.problems.iter().chain(&report.failures);
                let problems: Vec<String> = problems.map(ToString::to_string).collect();
                problems.join("\n")
            }
            Err(Error::Stopped(_)) => return Ok(()),
            Err(error @ (Error::Usage(_) | Error::Unusable(_))) => return Err(error),
            Err(error) => format!("{error}; trying again"),
        };
        let reason = watches.reason();
        let reason = reason.map(|why| {
            let seconds = POLL_INTERVAL.as_secs();
            format!("{why}; looking for changes every {seconds} seconds instead")
        });
        let problems = [Some(problems), reason].into_iter().flatten();
        let problems: Vec<String> = problems.filter(|text| !text.is_empty()).collect();
        let problems = problems.join("\n");
        // What stays as it is, is said once.
        if problems != said && !problems.is_empty() {
            warn(&problems);
        }
        said = problems;
        // At most half of the time is spent on syncs.
        if !watches.wait(begun.elapsed(), &request.stop) {
            return Ok(());
        }
        // A home may have been created, or may be gone for a while.
        if let Ok(roots) = roots(global, arguments) {
            request.roots = roots;
        }
    }
}

/// The place of the one watching sync of a database.
fn take_place(database: &Path) -> Result<File> {
    let path = with_suffix(database, PLACE);
    let folder = folder_of(&path);
    create_private_folder(folder).map_err(Error::io(folder))?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let file = open_private(&path, &mut options).map_err(Error::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(path)),
        Err(TryLockError::Error(error)) => Err(Error::Io(path, error)),
    }
}

const PLACE: &str = ".watch";

/// Whether a sync watches for this database.
pub fn is_running(database: &Path) -> bool {
    let place = File::open(with_suffix(database, PLACE));
    place.is_ok_and(|place| matches!(place.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The folders of the homes that are watched.
struct Watches {
    watcher: Option<RecommendedWatcher>,
    /// What each path was when it was watched: a folder may be replaced.
    watched: HashMap<PathBuf, Option<Identity>>,
    /// The homes that are watched; the watcher's thread reads them.
    homes: Arc<Mutex<Vec<PathBuf>>>,
    changes: Receiver<()>,
    /// Why the watcher lost something, or was never there.
    lost: Arc<Mutex<Option<String>>>,
    /// Why a folder is not watched now.
    unwatched: Option<String>,
}

type Identity = (u64, u64);

impl Watches {
    fn new(database: &Path) -> Watches {
        let homes = Arc::<Mutex<Vec<PathBuf>>>::default();
        let lost = Arc::<Mutex<Option<String>>>::default();
        let (sender, changes) = sync_channel(1);
        let watcher =
            notify::recommended_watcher(observer(database, homes.clone(), lost.clone(), sender));
        let watcher = watcher.map_err(|error| *locked(&lost) = Some(why(&error)));
        Watches {
            watcher: watcher.ok(),
            watched: HashMap::new(),
            homes,
            changes,
            lost,
            unwatched: None,
        }
    }

    /// Watches what is there now and was not watched yet.
    fn update(&mut self, roots: &[PathBuf]) {
        self.unwatched = None;
        let real = |root: &PathBuf| std::fs::canonicalize(root).unwrap_or(root.clone());
        let roots: Vec<PathBuf> = roots.iter().map(real).collect();
        locked(&self.homes).clone_from(&roots);
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        self.watched.retain(|path, _| path.is_dir());
        for root in &roots {
            if !root.is_dir() {
                self.unwatched = Some(format!("{} does not exist", root.display()));
            }
            if is_remote(root) {
                let what = "is on a file system that does not report changes";
                self.unwatched = Some(format!("{} {what}", root.display()));
            }
            let folders = discover::READ.iter().map(|name| root.join(name));
            let folders = folders.map(|folder| (folder, RecursiveMode::Recursive));
            let root = (root.clone(), RecursiveMode::NonRecursive);
            for (folder, mode) in [root].into_iter().chain(folders) {
                let identity = identity(&folder);
                if !folder.is_dir() || self.watched.get(&folder) == Some(&identity) {
                    continue;
                }
                if self.watched.remove(&folder).is_some() {
                    let _ = watcher.unwatch(&folder);
                }
                match watcher.watch(&folder, mode) {
                    Ok(()) => drop(self.watched.insert(folder, identity)),
                    Err(error) => self.unwatched = Some(why(&error)),
                }
            }
        }
    }

    /// Why changes may not be seen.
    fn reason(&self) -> Option<String> {
        self.unwatched
            .clone()
            .or_else(|| locked(&self.lost).clone())
    }

    /// Waits for changes, but at least as long as given. Returns false after a signal.
    fn wait(&self, least: Duration, stop: &Stop) -> bool {
        let interval = match self.reason() {
            None => SAFETY_INTERVAL,
            Some(_) => POLL_INTERVAL,
        };
        let begun = Instant::now();
        let mut change: Option<(Instant, Instant)> = None;
        while !stop.is_requested() {
            let is_due = match change {
                Some((first, last)) => last.elapsed() >= QUIET || first.elapsed() >= LONGEST_WAIT,
                None => begun.elapsed() >= interval,
            };
            if is_due && begun.elapsed() >= least {
                return true;
            }
            let tick = if change.is_some() { QUIET / 3 } else { TICK };
            match self.changes.recv_timeout(tick) {
                Ok(()) => {
                    let now = Instant::now();
                    change = Some((change.map_or(now, |(first, _)| first), now));
                    // A burst of events is one change.
                    std::thread::sleep(QUIET / 3);
                }
                // Without a watcher nobody sends.
                Err(_) if self.watcher.is_none() => std::thread::sleep(tick),
                Err(_) => {}
            }
        }
        false
    }
}

/// What the thread of the watcher does with an event. It only notes that there was one.
fn observer(
    database: &Path,
    homes: Arc<Mutex<Vec<PathBuf>>>,
    lost: Arc<Mutex<Option<String>>>,
    changes: SyncSender<()>,
) -> impl FnMut(notify::Result<Event>) + use<> {
    let database = std::path::absolute(database).unwrap_or(database.to_path_buf());
    let folder = folder_of(&database);
    let folder = std::fs::canonicalize(folder).unwrap_or(folder.to_path_buf());
    let name = database.file_name().unwrap_or_default().to_os_string();
    // The database, and its journals, locks and log: a sync must not start the next one.
    let is_ours = move |path: &Path| {
        let file = path.file_name().unwrap_or_default().as_encoded_bytes();
        path.parent() == Some(&folder) && file.starts_with(name.as_encoded_bytes())
    };
    move |event| {
        match event {
            // A sync reads files, too.
            Ok(event) if event.kind.is_access() && !event.need_rescan() => return,
            Ok(event) => {
                let homes = locked(&homes);
                // A home that is deleted or moved is an event, too.
                let is_part = |path: &Path| path.as_os_str().is_empty() || discover::is_read(path);
                let is_in = |path: &PathBuf, home: &PathBuf| {
                    path.strip_prefix(home).is_ok_and(is_part) && !is_ours(path)
                };
                let is_read = |path: &PathBuf| homes.iter().any(|home| is_in(path, home));
                if !event.need_rescan() && !event.paths.iter().any(is_read) {
                    return;
                }
            }
            Err(error) => *locked(&lost) = Some(why(&error)),
        }
        // One note is enough.
        let _ = changes.try_send(());
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn why(error: &notify::Error) -> String {
    let folder = error.paths.first();
    let folder = folder.map_or("a folder".to_string(), |path| path.display().to_string());
    match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "this user has no more watches; sysctl fs.inotify.max_user_watches allows more"
                .to_string()
        }
        ErrorKind::Io(error) => format!("cannot watch {folder}: {error}"),
        _ => format!("cannot watch {folder}: {error}"),
    }
}

/// What tells a folder from another one of the same name.
fn identity(folder: &Path) -> Option<Identity> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let data = std::fs::metadata(folder).ok()?;
        Some((data.dev(), data.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Whether other machines may write a folder: the system does not see what they do.
#[cfg(target_os = "linux")]
fn is_remote(folder: &Path) -> bool {
    // NFS, SMB, CIFS, SMB 2, 9P, Ceph, AFS, folders of VirtualBox, and FUSE.
    const REMOTE: [u32; 9] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x00c3_6400,
        0x5346_414f,
        0x786f_4256,
        0x6573_5546,
    ];
    rustix::fs::statfs(folder).is_ok_and(|system| REMOTE.contains(&(system.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_folder: &Path) -> bool {
    false
}
