//! A look through a home. Folders are listed side by side, each by its own name; then links are followed to what was not.

use super::{Discovery, Stat, is_read};
use rayon::Scope;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::{fs, io};

/// All files of a home, in any order.
pub fn walk(home: &Path) -> Discovery {
    let walk = Walk::default();
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

    /// Follows links, in the order of their names.
    fn follow_links(&self) {
        loop {
            let mut links = std::mem::take(&mut self.lock().links);
            if links.is_empty() {
                return;
            }
            links.sort_unstable();
            for (absolute, relative) in links {
                match fs::metadata(&absolute) {
                    Ok(target) if target.is_dir() => {
                        self.lock().note_listed();
                        if self.is_new(&absolute) {
                            self.tree(absolute, relative);
                        }
                    }
                    Ok(target) if target.is_file() => {
                        let found = &mut self.lock().discovery;
                        found.file(absolute, &relative, Ok(target));
                    }
                    // A link that leads nowhere or in a circle is a file that is not there.
                    _ => {}
                }
            }
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

impl Found {
    fn append(&mut self, mut other: Found) {
        let (found, other_found) = (&mut self.discovery, &mut other.discovery);
        found.files.append(&mut other_found.files);
        found.problems.append(&mut other_found.problems);
        found.unknown.append(&mut other_found.unknown);
        self.folders.append(&mut other.folders);
        self.links.append(&mut other.links);
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
