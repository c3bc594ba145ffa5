//! Writes the data sets as a folder of Parquet files:
//!
//! ```text
//! v1/manifest-<machine>.json                        written last
//! v1/fact_response/month=2026-10/<machine>.parquet
//! v1/dim_session/<machine>.parquet
//! ```
//!
//! All files are written to a staging folder first, and those whose bytes differ replace the old ones. The manifest lists
//! the files of a machine with their hashes. Before the first file is replaced it lists the new files and, under
//! `replacing`, the hash before of each that changes; after the last one it is written again without that. So it is true
//! whenever the process ends.

use super::data_set::{self, Column, DataSet};
use super::parquet::{Batch, ParquetFile};
use super::profile::Profile;
use super::rows::{self, Partition};
use crate::database;
use crate::error::{Error, Result};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Version of the layout and the columns.
pub(super) const VERSION: u32 = 1;

/// What an export did.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub file_count: u64,
    pub byte_count: u64,
    pub row_count: u64,
    pub written_count: u64,
    pub removed_count: u64,
}

/// The files of a machine.
#[derive(Serialize, Deserialize)]
struct Manifest {
    version: u32,
    machine: String,
    profile: String,
    /// Identifies the key of the hashes.
    key_id: Option<String>,
    has_names: bool,
    /// How often each rule has masked something.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    masked: BTreeMap<String, u64>,
    files: Vec<Entry>,
    /// The files that are being replaced or removed, with their hashes before; a file without a hash is new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replacing: Vec<Replaced>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    /// Relative to the folder of the manifest.
    path: String,
    rows: u64,
    bytes: u64,
    blake3: String,
    /// The first and the last time in it.
    from: Option<String>,
    to: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Replaced {
    path: String,
    blake3: Option<String>,
}

/// A file in the staging folder.
struct Staged {
    machine: String,
    path: PathBuf,
    entry: Entry,
}

/// Writes all data sets. Each reader has a thread, and all have begun to read the same snapshot.
pub fn write(readers: Vec<Connection>, out: &Path, profile: &Profile) -> Result<Summary> {
    let root = out.join(format!("v{VERSION}"));
    database::create_private_folder(&root).map_err(Error::io(&root))?;
    refuse_other_profile(&root, profile)?;
    let staging = create_staging(&root)?;
    let mut machines: BTreeMap<String, Vec<Staged>> = BTreeMap::new();
    for staged in stage(readers, staging.path(), profile)? {
        machines
            .entry(staged.machine.clone())
            .or_default()
            .push(staged);
    }
    let mut summary = Summary::default();
    for (machine, files) in machines {
        commit(
            &root,
            staging.path(),
            &machine,
            files,
            profile,
            &mut summary,
        )?;
    }
    Ok(summary)
}

/// Files of several profiles, or hashes of several keys, would not fit together.
fn refuse_other_profile(root: &Path, profile: &Profile) -> Result<()> {
    for entry in fs::read_dir(root).map_err(Error::io(root))? {
        let path = entry.map_err(Error::io(root))?.path();
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if !name.starts_with("manifest-") || !name.ends_with(".json") {
            continue;
        }
        let text = fs::read(&path).map_err(Error::io(&path))?;
        let Ok(manifest) = serde_json::from_slice::<Manifest>(&text) else {
            return Err(Error::Usage(format!(
                "{} is not a manifest of cc-etl; export to another folder",
                path.display()
            )));
        };
        let is_same = manifest.profile == profile.detail.name()
            && manifest.has_names == profile.has_names
            && manifest.key_id == profile.key_id();
        if !is_same {
            let names = match (manifest.has_names, profile.has_names) {
                (true, false) => " with names",
                (false, true) => " without names",
                _ if manifest.profile == profile.detail.name() => " hashed with another key",
                _ => "",
            };
            return Err(Error::Usage(format!(
                "{} is of the profile {}{names}; export to another folder, or remove that one",
                path.display(),
                manifest.profile,
            )));
        }
    }
    Ok(())
}

const STAGING: &str = ".staging-";

/// A folder on the file system of the files. What a killed export left is removed.
fn create_staging(root: &Path) -> Result<tempfile::TempDir> {
    database::remove_leftovers(root, OsStr::new(STAGING));
    let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(root);
    let staging = staging.map_err(Error::io(root))?;
    let used = staging.path().join(database::USED);
    let file = File::create_new(&used).map_err(Error::io(&used))?;
    database::mark_as_used(&file).map_err(Error::io(&used))?;
    // The lock ends with the process.
    std::mem::forget(file);
    Ok(staging)
}

/// A batch of rows of a file.
struct Part {
    partition: Partition,
    batch: Batch,
    times: Option<(i64, i64)>,
}

/// Writes the files of all data sets. Readers take one data set after the other.
fn stage(readers: Vec<Connection>, staging: &Path, profile: &Profile) -> Result<Vec<Staged>> {
    let sets = data_set::all();
    let next = AtomicUsize::new(0);
    let stage_some = |reader: Connection| -> Result<Vec<Staged>> {
        let mut staged = Vec::new();
        while let Some(set) = sets.get(next.fetch_add(1, Relaxed)) {
            match stage_set(&reader, set, staging, profile) {
                Ok(files) => staged.extend(files),
                Err(error) => {
                    // The others need not go on.
                    next.store(sets.len(), Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(staged)
    };
    std::thread::scope(|scope| {
        let start = |reader| scope.spawn(|| stage_some(reader));
        let threads: Vec<_> = readers.into_iter().map(start).collect();
        let mut staged = Vec::new();
        for thread in threads {
            staged.extend(thread.join().expect("a reader does not panic")?);
        }
        Ok(staged)
    })
}

/// Reads the rows of a data set. Another thread encodes them.
fn stage_set(
    connection: &Connection,
    set: &DataSet,
    staging: &Path,
    profile: &Profile,
) -> Result<Vec<Staged>> {
    let columns = set.columns(profile);
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(0);
        let encoder = scope.spawn(|| encode(receiver, set, &columns, staging));
        let read = read_set(connection, set, &columns, profile, &sender);
        drop(sender);
        let staged = encoder.join().expect("the encoder does not panic");
        // If the encoder failed, its error is the reason why the reader could not go on.
        let staged = staged?;
        read.map(|()| staged)
    })
}

fn read_set(
    connection: &Connection,
    set: &DataSet,
    columns: &[Column],
    profile: &Profile,
    sender: &SyncSender<Part>,
) -> Result<()> {
    let time = columns
        .iter()
        .position(|column| Some(column.name) == set.time);
    let mut part: Option<Part> = None;
    let send = |part: Part| {
        sender
            .send(part)
            .map_err(|_| Error::io("the encoder")(io::ErrorKind::BrokenPipe.into()))
    };
    rows::each(connection, set, profile, |partition, cells| {
        let goes_on = |part: &mut Part| part.partition == *partition && !part.batch.is_full();
        if part.as_mut().is_none_or(|part| !goes_on(part))
            && let Some(done) = part.replace(Part {
                partition: partition.clone(),
                batch: Batch::new(columns),
                times: None,
            })
        {
            send(done)?;
        }
        let part = part.as_mut().expect("it was just set");
        part.batch.push(cells);
        if let Some(rows::Cell::Timestamp(time)) = time.map(|place| &cells[place]) {
            let (first, last) = part.times.unwrap_or((*time, *time));
            part.times = Some((first.min(*time), last.max(*time)));
        }
        Ok(())
    })?;
    part.map_or(Ok(()), send)
}

/// Writes the batches of each file, which follow each other.
fn encode(
    receiver: Receiver<Part>,
    set: &DataSet,
    columns: &[Column],
    staging: &Path,
) -> Result<Vec<Staged>> {
    let mut staged = Vec::new();
    let mut open: Option<(Partition, Encoding)> = None;
    for part in receiver {
        if open
            .as_ref()
            .is_none_or(|(partition, _)| *partition != part.partition)
        {
            if let Some((partition, encoding)) = open.take() {
                staged.push(encoding.finish(set, partition)?);
            }
            let path = staging.join(format!("{}-{}", set.name, staged.len()));
            open = Some((part.partition.clone(), Encoding::new(path, columns)?));
        }
        let (_, encoding) = open.as_mut().expect("it was just opened");
        encoding.write(part)?;
    }
    if let Some((partition, encoding)) = open {
        staged.push(encoding.finish(set, partition)?);
    }
    Ok(staged)
}

/// A staged file that is being written.
struct Encoding {
    path: PathBuf,
    file: ParquetFile,
    rows: u64,
    times: Option<(i64, i64)>,
}

impl Encoding {
    fn new(path: PathBuf, columns: &[Column]) -> Result<Encoding> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true);
        let file = database::open_private(&path, options).map_err(Error::io(&path))?;
        Ok(Encoding {
            file: ParquetFile::new(file, &path, columns)?,
            path,
            rows: 0,
            times: None,
        })
    }

    fn write(&mut self, part: Part) -> Result<()> {
        self.rows += part.batch.row_count() as u64;
        self.times = match (self.times, part.times) {
            (Some((first, last)), Some((from, to))) => Some((first.min(from), last.max(to))),
            (times, other) => times.or(other),
        };
        self.file.write(part.batch)
    }

    fn finish(self, set: &DataSet, partition: Partition) -> Result<Staged> {
        let (hash, bytes) = self.file.finish()?;
        let file = format!("{}.parquet", file_name(&partition.machine));
        let path = match &partition.month {
            Some(month) => format!("{}/month={month}/{file}", set.name),
            None => format!("{}/{file}", set.name),
        };
        let time = |microseconds: i64| crate::timestamp::from_milliseconds(microseconds / 1000);
        Ok(Staged {
            machine: partition.machine,
            path: self.path,
            entry: Entry {
                path,
                rows: self.rows,
                bytes,
                blake3: hash.to_hex().to_string(),
                from: self.times.and_then(|(first, _)| time(first)),
                to: self.times.and_then(|(_, last)| time(last)),
            },
        })
    }
}

/// The name of a machine as the name of a file. If characters are replaced, or would be the same on a file system that
/// ignores case, a hash keeps it unique.
fn file_name(machine: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if !machine.is_empty() && machine.len() <= 64 && machine.chars().all(is_plain) {
        return machine.to_string();
    }
    let plain: String = machine
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(64)
        .collect();
    let hash = blake3::hash(machine.as_bytes()).to_hex();
    format!("{plain}-{}", &hash[..8])
}

/// Replaces the files of a machine that differ, and removes those that no longer exist.
fn commit(
    root: &Path,
    staging: &Path,
    machine: &str,
    mut files: Vec<Staged>,
    profile: &Profile,
    summary: &mut Summary,
) -> Result<()> {
    files.sort_by(|a, b| a.entry.path.cmp(&b.entry.path));
    let mut changed = Vec::new();
    let mut replacing = Vec::new();
    for staged in &files {
        let before = hash_of(&root.join(&staged.entry.path))?;
        if before.as_deref() != Some(&staged.entry.blake3) {
            changed.push((staged.path.clone(), root.join(&staged.entry.path)));
            replacing.push(Replaced {
                path: staged.entry.path.clone(),
                blake3: before,
            });
        }
    }
    let known: BTreeSet<&str> = files.iter().map(|file| &*file.entry.path).collect();
    let mut stale = find_files(root, &file_name(machine))?;
    stale.retain(|path| !known.contains(&**path));
    for path in &stale {
        replacing.push(Replaced {
            path: path.clone(),
            blake3: hash_of(&root.join(path))?,
        });
    }
    summary.file_count += files.len() as u64;
    summary.byte_count += files.iter().map(|file| file.entry.bytes).sum::<u64>();
    summary.row_count += files.iter().map(|file| file.entry.rows).sum::<u64>();
    summary.written_count += changed.len() as u64;
    summary.removed_count += stale.len() as u64;
    let mut manifest = Manifest {
        version: VERSION,
        machine: machine.to_string(),
        profile: profile.detail.name().to_string(),
        key_id: profile.key_id(),
        has_names: profile.has_names,
        masked: masked(profile, machine),
        files: files.into_iter().map(|file| file.entry).collect(),
        replacing,
    };
    let path = root.join(format!("manifest-{}.json", file_name(machine)));
    if !manifest.replacing.is_empty() {
        for (staged, _) in &changed {
            database::sync_file(staged)?;
        }
        write_manifest(&path, staging, &manifest)?;
        replace(root, &changed, &stale)?;
        manifest.replacing.clear();
    }
    write_manifest(&path, staging, &manifest)
}

fn masked(profile: &Profile, machine: &str) -> BTreeMap<String, u64> {
    let counts = profile.masked(Some(machine)).into_iter();
    counts
        .map(|(rule, count)| (rule.to_string(), count))
        .collect()
}

fn replace(root: &Path, changed: &[(PathBuf, PathBuf)], stale: &[String]) -> Result<()> {
    let mut folders = BTreeSet::new();
    for (staged, target) in changed {
        let folder = database::folder_of(target);
        database::create_private_folder(folder).map_err(Error::io(folder))?;
        fs::rename(staged, target).map_err(Error::io(target))?;
        folders.extend(
            folder
                .ancestors()
                .take_while(|folder| *folder != root)
                .map(Path::to_path_buf),
        );
    }
    for path in stale {
        let path = root.join(path);
        fs::remove_file(&path).map_err(Error::io(&path))?;
        let folder = database::folder_of(&path);
        // Another machine may have a file in it.
        match fs::remove_dir(folder) {
            Ok(()) => folders.remove(folder),
            Err(_) => folders.insert(folder.to_path_buf()),
        };
    }
    for folder in folders {
        database::sync_folder(&folder.join("."))?;
    }
    database::sync_folder(&root.join("."))
}

/// Writes a manifest unless it is there already.
fn write_manifest(path: &Path, staging: &Path, manifest: &Manifest) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(manifest).expect("it has only strings and numbers");
    text.push(b'\n');
    if fs::read(path).is_ok_and(|before| before == text) {
        return Ok(());
    }
    let partial = staging.join("manifest");
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(true);
    let file = database::open_private(&partial, options);
    let written = file.and_then(|mut file| {
        io::Write::write_all(&mut file, &text)?;
        file.sync_all()
    });
    written.map_err(Error::io(&partial))?;
    fs::rename(&partial, path).map_err(Error::io(path))?;
    database::sync_folder(path)
}

/// The hash of a file; `None` if there is none.
fn hash_of(path: &Path) -> Result<Option<String>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(Error::io(path))?,
    };
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut file, &mut hasher).map_err(Error::io(path))?;
    Ok(Some(hasher.finalize().to_hex().to_string()))
}

/// The paths of all files of a machine, relative to the root.
fn find_files(root: &Path, machine: &str) -> Result<Vec<String>> {
    let name = format!("{machine}.parquet");
    let mut found = Vec::new();
    for set in folders(root)? {
        let mut places = vec![set.clone()];
        places.extend(
            folders(&root.join(&set))?
                .into_iter()
                .map(|month| format!("{set}/{month}")),
        );
        let files = places.iter().map(|place| format!("{place}/{name}"));
        found.extend(files.filter(|file| root.join(file).is_file()));
    }
    Ok(found)
}

/// The names of the folders in a folder that are ours.
fn folders(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let entry = entry.map_err(Error::io(folder))?;
        let name = entry.file_name().to_str().map(str::to_string);
        let is_ours = |name: &String| {
            ["fact_", "dim_", "month="]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        };
        if let Some(name) = name.filter(is_ours)
            && entry.path().is_dir()
        {
            names.push(name);
        }
    }
    Ok(names)
}
