//! A look through a home. Folders are listed side by side, each by its own name; then links are followed to what was not.
//!
//! A link could lead to any file of the machine, and what is read is archived. So only these are followed: links to what
//! is read anyway under its own name, and links that are a project's folder or `projects` itself.

use super::{Discovery, Reading, Stat, classify, is_read, portable};
use crate::error::Problem;
use rayon::Scope;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::{fs, io};

/// All files of a home, in any order.
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

/// What was found so far.
#[derive(Default)]
struct Found {
    discovery: Discovery,
    folders: Vec<PathBuf>,
    /// Links that may lead to something to be read: where they lie, and their relative paths.
    links: Vec<(PathBuf, PathBuf)>,
    /// What is looked through: the home and folders of projects elsewhere, by their real paths, with their relative ones.
    roots: Vec<(PathBuf, PathBuf)>,
    /// The folders, by device and inode, as soon as links are followed to some: a link back to one of them is a loop or a
    /// second name.
    listed: Option<HashSet<(i64, i64)>>,
}

/// Why a lock is not poisoned.
const NO_PANIC: &str = "nobody panics with it";

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
                // Asked of the open folder: that is quicker than by the whole path.
                Ok(kind) if kind.is_file() => {
                    let metadata = entry.metadata();
                    listing.discovery.file(absolute, &relative, metadata);
                }
                Ok(kind) if kind.is_symlink() && is_read(&relative) => {
                    listing.links.push((absolute, relative));
                }
                // FIFOs, sockets and devices are never opened, and links are followed only to what is read.
                _ => {}
            }
        }
        listing.folders.push(absolute);
        self.lock().append(listing);
    }

    /// Follows links: first those that are projects, then others, in the order of their names.
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
            // A link that leads nowhere or in a circle is a file that is not there.
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
            let message = "a link to what is not read; only folders of projects may be elsewhere";
            found
                .discovery
                .problems
                .push(Problem::new(absolute, message));
            found.discovery.unknown.push(portable(&relative).0);
        }
    }

    /// Whether a folder is to be listed. As long as no link was followed, it is not listed under another name.
    fn is_new(&self, absolute: &Path) -> bool {
        match &mut self.lock().listed {
            Some(listed) if cfg!(unix) => {
                identity(absolute).is_none_or(|folder| listed.insert(folder))
            }
            _ => true,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().expect(NO_PANIC)
    }
}

/// Whether this is where a project's folder is, or all of them.
fn is_project(relative: &Path) -> bool {
    relative.starts_with("projects") && relative.components().count() <= 2
}

/// The path without links; as it is where that cannot be told.
fn real_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

impl Found {
    /// Whether a file or a folder, by its real path, is one that is read under its own name.
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

    /// Notes which folders are listed, from now on by what they are.
    fn note_listed(&mut self) {
        let folders = std::mem::take(&mut self.folders);
        let listed = self.listed.get_or_insert_default();
        listed.extend(folders.iter().filter_map(|folder| identity(folder)));
    }
}

/// What tells a folder from others, whatever its name is.
fn identity(folder: &Path) -> Option<(i64, i64)> {
    let stat = Stat::of(&fs::metadata(folder).ok()?);
    Some((stat.device, stat.inode))
}
