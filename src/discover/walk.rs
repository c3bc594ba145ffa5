//! Lists the files of a home. Folders are listed in parallel; then symbolic links are followed.
//!
//! A link can point to any file of the machine, and files that are read are archived. So it follows only links to files and
//! folders that are read anyway under their own names, and links in place of `projects` or a project's folder.

use super::{Discovery, Reading, classify, is_read, portable};
use crate::error::Problem;
use rayon::Scope;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::{fs, io};

/// Lists all files of a home, in any order.
pub fn walk(home: &Path) -> Discovery {
    let walk = Walk::default();
    walk.lock().roots.push((real_path(home), PathBuf::new()));
    walk.tree(home.to_path_buf(), PathBuf::new());
    walk.follow_links();
    walk.found.into_inner().expect(NO_PANIC).discovery
}

#[derive(Default)]
struct Walk {
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    discovery: Discovery,
    folders: Vec<PathBuf>,
    /// Links that may point to something to read: their absolute and relative paths.
    links: Vec<(PathBuf, PathBuf)>,
    /// The real and relative paths of the home, and of project folders outside of it.
    roots: Vec<(PathBuf, PathBuf)>,
    /// What tells each listed folder from others, once a link to a folder is followed: a link to one of them is a cycle or a
    /// second name.
    listed: Option<HashSet<Identity>>,
}

const NO_PANIC: &str = "no thread panics while it holds the lock";

impl Walk {
    /// Lists a folder and all folders in it.
    fn tree(&self, absolute: PathBuf, relative: PathBuf) {
        rayon::scope(|scope| self.folder(absolute, relative, scope));
    }

    fn folder<'w>(&'w self, absolute: PathBuf, relative: PathBuf, scope: &Scope<'w>) {
        let listed = fs::read_dir(&absolute).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = match listed {
            Ok(entries) => entries,
            Err(error) => return self.lock().discovery.problem(&absolute, &relative, &error),
        };
        let mut listing = Found::default();
        for entry in entries {
            let (absolute, relative) = (entry.path(), relative.join(entry.file_name()));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && self.is_new(&absolute) => {
                    scope.spawn(move |scope| self.folder(absolute, relative, scope));
                }
                // Relative to the open folder, which is faster than by the whole path.
                Ok(kind) if kind.is_file() => {
                    // On Windows a folder knows the size of an open file only when it is closed.
                    let metadata = match cfg!(windows) {
                        true => fs::metadata(&absolute),
                        false => entry.metadata(),
                    };
                    listing.discovery.file(absolute, &relative, metadata);
                }
                Ok(kind) if kind.is_symlink() && is_read(&relative) => {
                    listing.links.push((absolute, relative));
                }
                // FIFOs, sockets and devices are never opened.
                _ => {}
            }
        }
        listing.folders.push(absolute);
        self.lock().append(listing);
    }

    /// Follows links: first those in place of project folders, then others, each in the order of their paths.
    fn follow_links(&self) {
        loop {
            let mut links = std::mem::take(&mut self.lock().links);
            if links.is_empty() {
                return;
            }
            links.sort_by_cached_key(|(absolute, relative)| {
                (!is_project(relative), absolute.clone())
            });
            for (absolute, relative) in links {
                self.follow(absolute, relative);
            }
        }
    }

    fn follow(&self, absolute: PathBuf, relative: PathBuf) {
        let real = fs::canonicalize(&absolute);
        let (real, target) = match real.and_then(|real| Ok((fs::metadata(&real)?, real))) {
            Ok((target, real)) => (real, target),
            // A broken or circular link is ignored, like a missing file.
            Err(_) => return,
        };
        let is_unread = classify(&portable(&relative).0).reading == Reading::Count;
        let mut found = self.lock();
        if target.is_dir() && (found.is_read(&real, true) || is_project(&relative)) {
            found.note_listed();
            if !found.is_read(&real, true) {
                found.roots.push((real, relative.clone()));
            }
            drop(found);
            if self.is_new(&absolute) {
                self.tree(absolute, relative);
            }
        } else if target.is_file() && found.is_read(&real, false) {
            found.discovery.file(real, &relative, Ok(target));
        } else if target.is_dir() || (target.is_file() && !is_unread) {
            let message = "symbolic link to a file or folder that is not imported; only project folders may be outside of the home";
            found
                .discovery
                .problems
                .push(Problem::new(absolute, message));
            found.discovery.unknown.push(portable(&relative).0);
        }
    }

    /// Whether a folder was not listed yet. Without links every folder has one name.
    fn is_new(&self, absolute: &Path) -> bool {
        match &mut self.lock().listed {
            Some(listed) => identity(absolute).is_none_or(|folder| listed.insert(folder)),
            None => true,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().expect(NO_PANIC)
    }
}

/// Whether this is the path of `projects` or of a project's folder.
fn is_project(relative: &Path) -> bool {
    relative.starts_with("projects") && relative.components().count() <= 2
}

/// The canonical path, or the path itself if that fails.
fn real_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

impl Found {
    /// Whether the file or folder with this real path is read under its own name.
    fn is_read(&self, real: &Path, is_folder: bool) -> bool {
        self.roots.iter().any(|(root, relative)| {
            let inside = real.strip_prefix(root).map(|rest| relative.join(rest));
            inside.is_ok_and(|inside| match is_folder {
                true => is_read(&inside),
                false => classify(&portable(&inside).0).reading != Reading::Count,
            })
        })
    }

    fn append(&mut self, mut other: Found) {
        let (found, other_found) = (&mut self.discovery, &mut other.discovery);
        found.files.append(&mut other_found.files);
        found.problems.append(&mut other_found.problems);
        found.unknown.append(&mut other_found.unknown);
        self.folders.append(&mut other.folders);
        self.links.append(&mut other.links);
        self.roots.append(&mut other.roots);
    }

    /// Records the identities of all folders that were listed so far.
    fn note_listed(&mut self) {
        let folders = std::mem::take(&mut self.folders);
        let listed = self.listed.get_or_insert_default();
        listed.extend(folders.iter().filter_map(|folder| identity(folder)));
    }
}

/// What tells a folder from others: its device and inode.
#[cfg(unix)]
type Identity = (i64, i64);

/// What tells a folder from others: its real path.
#[cfg(not(unix))]
type Identity = PathBuf;

fn identity(folder: &Path) -> Option<Identity> {
    #[cfg(unix)]
    {
        let stat = super::Stat::of(&fs::metadata(folder).ok()?);
        Some((stat.device, stat.inode))
    }
    #[cfg(not(unix))]
    fs::canonicalize(folder).ok()
}
