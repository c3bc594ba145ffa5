//! A Claude home -> its source files, classified by path and not yet opened.

use crate::error::{Error, Problem, Result};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A file of a home that a sync reads.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Where it lies on this machine.
    pub absolute: PathBuf,
    /// Relative to the home, with `/`; bytes that are not UTF-8 are written as `\xNN`.
    pub path: String,
    /// The relative path itself, when it is not UTF-8.
    pub path_bytes: Option<Vec<u8>>,
    /// Size, times and identity as the file system tells them.
    pub stat: Stat,
}

/// What tells whether a file may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Length in bytes.
    pub size: u64,
    /// mtime, nanoseconds since 1970.
    pub modified_ns: i64,
    /// ctime, nanoseconds since 1970.
    pub changed_ns: i64,
    /// Device.
    pub device: i64,
    /// Inode.
    pub inode: i64,
}

/// What a home holds, and what of it could not be looked at.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The files to read.
    pub files: Vec<SourceFile>,
    /// Folders that could not be listed, files that could not be examined.
    pub problems: Vec<Problem>,
    /// Relative paths of what could not be looked at: whatever lies below is unknown, not gone.
    pub unknown: Vec<String>,
}

/// What the path of a file says about its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The kind of file.
    pub kind: Kind,
    /// The folder under `projects/`.
    pub directory_name: Option<String>,
    /// The session that the path names.
    pub session_id: Option<String>,
    /// The agent that the file name names.
    pub agent_id: Option<String>,
    /// Where an agent's lines stand.
    pub layout: Layout,
}

/// The kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `projects/<dir>/<session>.jsonl`
    Session,
    /// `agent-<id>.jsonl`, beside the sessions or under `<session>/subagents/`
    Agent,
    /// `journal.jsonl` of a workflow
    Journal,
    /// Any other JSONL under `projects/`
    Transcript,
    /// `history.jsonl`
    History,
}

/// Where the lines of an agent stand, which changed with the versions of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Among the lines of its session.
    Inline,
    /// In a file beside that of its session.
    Flat,
    /// In a file under `<session>/subagents/`.
    Nested,
    /// In a file under `<session>/subagents/workflows/`.
    Workflow,
}

impl Kind {
    /// The name in the database.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Session => "session",
            Kind::Agent => "agent",
            Kind::Journal => "journal",
            Kind::Transcript => "transcript",
            Kind::History => "history",
        }
    }
}

impl Layout {
    /// The name in the database.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Inline => "inline",
            Layout::Flat => "flat",
            Layout::Nested => "nested",
            Layout::Workflow => "workflow",
        }
    }
}

/// The homes to read when none is named: `CLAUDE_CONFIG_DIR` (a list with commas is accepted), else `~/.claude` and
/// `$XDG_CONFIG_HOME/claude` where they exist.
pub fn default_homes() -> Result<Vec<PathBuf>> {
    if let Some(list) = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|list| !list.is_empty()) {
        return Ok(split_list(&list));
    }
    let home = etcetera::home_dir()
        .map_err(|_| Error::NoSource(no_home_message("no home directory is known")))?;
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| home.join(".config"));
    let homes: Vec<PathBuf> = [home.join(".claude"), config.join("claude")]
        .into_iter()
        .filter(|path| path.is_dir())
        .collect();
    if homes.is_empty() {
        let message = format!("there is no {}", home.join(".claude").display());
        return Err(Error::NoSource(no_home_message(&message)));
    }
    Ok(homes)
}

fn no_home_message(what: &str) -> String {
    format!(
        "{what}\nname a Claude home with --source DIR or CLAUDE_CONFIG_DIR, or try the invented one: cc-etl sync --demo"
    )
}

fn split_list(list: &OsString) -> Vec<PathBuf> {
    match list.to_str() {
        Some(text) => text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(PathBuf::from)
            .collect(),
        None => vec![PathBuf::from(list)],
    }
}

/// Finds the files of a home: every `*.jsonl` under `projects/`, at any depth, and `history.jsonl`.
pub fn discover(home: &Path) -> Result<Discovery> {
    if !home.is_dir() {
        let what = format!("{} is not a folder", home.display());
        return Err(Error::NoSource(no_home_message(&what)));
    }
    let mut walk = Walk::default();
    walk.file(&home.join("history.jsonl"), &PathBuf::from("history.jsonl"));
    walk.folder(&home.join("projects"), &PathBuf::from("projects"));
    walk.found
        .files
        .sort_by(|a, b| (a.stat.modified_ns, &a.path).cmp(&(b.stat.modified_ns, &b.path)));
    Ok(walk.found)
}

/// Looks at one transcript by its path: the home is the folder above `projects/`.
pub fn discover_file(transcript: &Path) -> Result<(PathBuf, Discovery)> {
    let absolute = std::path::absolute(transcript).map_err(Error::io(transcript))?;
    let home = absolute
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "projects"))
        .and_then(Path::parent)
        .ok_or_else(|| {
            Error::Usage(format!(
                "{} is not below a folder named projects, so it is no transcript of a Claude home",
                transcript.display()
            ))
        })?
        .to_path_buf();
    let relative = absolute
        .strip_prefix(&home)
        .expect("an ancestor is a prefix")
        .to_path_buf();
    let mut walk = Walk::default();
    walk.file(&absolute, &relative);
    if walk.found.files.is_empty() && walk.found.problems.is_empty() {
        let what = format!("{} is not a file", transcript.display());
        return Err(Error::NoSource(what));
    }
    Ok((home, walk.found))
}

#[derive(Default)]
struct Walk {
    found: Discovery,
    /// Folders already listed, by device and inode: a link back to one of them is a loop or a second name.
    listed: HashSet<(i64, i64)>,
}

impl Walk {
    fn folder(&mut self, absolute: &Path, relative: &Path) {
        let metadata = match fs::metadata(absolute) {
            Ok(metadata) if metadata.is_dir() => metadata,
            Ok(_) => return,
            Err(error) => return self.problem(absolute, relative, &error),
        };
        let stat = Stat::of(&metadata);
        if cfg!(unix) && !self.listed.insert((stat.device, stat.inode)) {
            return;
        }
        let mut entries =
            match fs::read_dir(absolute).and_then(|list| list.collect::<io::Result<Vec<_>>>()) {
                Ok(entries) => entries,
                Err(error) => return self.problem(absolute, relative, &error),
            };
        // True folders come before links to them, so that a folder is known by its own name.
        entries.sort_by_key(|entry| {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            (is_link, entry.file_name())
        });
        for entry in entries {
            let absolute = entry.path();
            let relative = relative.join(entry.file_name());
            let is_jsonl = absolute
                .extension()
                .is_some_and(|extension| extension == "jsonl");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.folder(&absolute, &relative),
                Ok(kind) if kind.is_file() && is_jsonl => self.file(&absolute, &relative),
                Ok(kind) if kind.is_symlink() => match fs::metadata(&absolute) {
                    Ok(target) if target.is_dir() => self.folder(&absolute, &relative),
                    Ok(target) if target.is_file() && is_jsonl => self.file(&absolute, &relative),
                    // A link that leads nowhere or in a circle is a file that is not there.
                    _ => {}
                },
                // FIFOs, sockets and devices are never opened.
                _ => {}
            }
        }
    }

    fn file(&mut self, absolute: &Path, relative: &Path) {
        match fs::metadata(absolute) {
            Ok(metadata) if metadata.is_file() => {
                let (path, path_bytes) = portable(relative);
                self.found.files.push(SourceFile {
                    absolute: absolute.to_path_buf(),
                    path,
                    path_bytes,
                    stat: Stat::of(&metadata),
                });
            }
            Ok(_) => {}
            Err(error) => self.problem(absolute, relative, &error),
        }
    }

    fn problem(&mut self, absolute: &Path, relative: &Path, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.found.problems.push(Problem::new(absolute, error));
            self.found.unknown.push(portable(relative).0);
        }
    }
}

impl Stat {
    /// The stat of a file, open or not.
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Stat {
        use std::os::unix::fs::MetadataExt;
        Stat {
            size: metadata.len(),
            modified_ns: metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec(),
            changed_ns: metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec(),
            device: metadata.dev().cast_signed(),
            inode: metadata.ino().cast_signed(),
        }
    }

    /// The stat of a file, open or not. Without inodes, size and time have to do.
    #[cfg(not(unix))]
    pub fn of(metadata: &Metadata) -> Stat {
        let modified_ns = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .and_then(|age| i64::try_from(age.as_nanos()).ok())
            .unwrap_or(0);
        Stat {
            size: metadata.len(),
            modified_ns,
            changed_ns: modified_ns,
            device: 0,
            inode: 0,
        }
    }
}

/// A relative path as text with `/`, and its bytes where the text is not the whole truth.
fn portable(relative: &Path) -> (String, Option<Vec<u8>>) {
    match relative.to_str() {
        Some(text) => (text.replace(std::path::MAIN_SEPARATOR, "/"), None),
        None => {
            let bytes = relative.as_os_str().as_encoded_bytes();
            let mut text = String::new();
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                for byte in chunk.invalid() {
                    text.push_str(&format!("\\x{byte:02x}"));
                }
            }
            (text, Some(bytes.to_vec()))
        }
    }
}

/// Classifies a file by its relative path.
pub fn classify(path: &str) -> Place {
    let parts: Vec<&str> = path.split('/').collect();
    let name = parts.last().copied().unwrap_or_default();
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    let mut place = Place {
        kind: Kind::Transcript,
        directory_name: None,
        session_id: None,
        agent_id: None,
        layout: Layout::Inline,
    };
    if path == "history.jsonl" {
        place.kind = Kind::History;
        return place;
    }
    if parts.len() >= 3 && parts[0] == "projects" {
        place.directory_name = Some(parts[1].to_string());
    }
    let agent_id = stem.strip_prefix("agent-").map(str::to_string);
    match parts.as_slice() {
        ["projects", _, _] if is_uuid(stem) => {
            place.kind = Kind::Session;
            place.session_id = Some(stem.to_string());
        }
        ["projects", _, _] if agent_id.is_some() => {
            place.kind = Kind::Agent;
            place.agent_id = agent_id;
            place.layout = Layout::Flat;
        }
        ["projects", _, session, "subagents", rest @ ..] => {
            place.session_id = Some((*session).to_string());
            if stem == "journal" {
                place.kind = Kind::Journal;
            } else if agent_id.is_some() {
                place.kind = Kind::Agent;
                place.agent_id = agent_id;
                place.layout = match rest.first() {
                    Some(&"workflows") => Layout::Workflow,
                    _ => Layout::Nested,
                };
            }
        }
        _ if stem == "journal" => place.kind = Kind::Journal,
        _ => {}
    }
    place
}

/// Whether a text has the form of a UUID.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, byte)| match i {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "0141fab3-8bf8-4b69-be1f-89552ccfce5d";

    #[test]
    fn files_are_classified_by_their_path() {
        let kind = |path: &str| classify(path).kind;
        assert_eq!(kind("history.jsonl"), Kind::History);
        assert_eq!(kind(&format!("projects/-w/{SESSION}.jsonl")), Kind::Session);
        assert_eq!(kind("projects/-w/agent-a12b3c4.jsonl"), Kind::Agent);
        assert_eq!(kind("projects/-w/notes.jsonl"), Kind::Transcript);
        assert_eq!(
            kind(&format!("projects/-w/{SESSION}/chat.jsonl")),
            Kind::Transcript
        );
        assert_eq!(
            kind(&format!(
                "projects/-w/{SESSION}/subagents/workflows/wf_1/journal.jsonl"
            )),
            Kind::Journal
        );
        let nested = classify(&format!(
            "projects/-w/{SESSION}/subagents/agent-aP1-x-9cf2.jsonl"
        ));
        assert_eq!(nested.kind, Kind::Agent);
        assert_eq!(nested.layout, Layout::Nested);
        assert_eq!(nested.agent_id.as_deref(), Some("aP1-x-9cf2"));
        assert_eq!(nested.session_id.as_deref(), Some(SESSION));
        assert_eq!(nested.directory_name.as_deref(), Some("-w"));
        let workflow = classify(&format!(
            "projects/-w/{SESSION}/subagents/workflows/wf_1/agent-a1.jsonl"
        ));
        assert_eq!(workflow.layout, Layout::Workflow);
        assert_eq!(classify("projects/-w/agent-a1.jsonl").layout, Layout::Flat);
    }

    #[cfg(unix)]
    #[test]
    fn loops_fifos_and_odd_names_are_met_with_sense() {
        use std::os::unix::ffi::OsStrExt;
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("projects/-w");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.jsonl"), "{}\n").unwrap();
        fs::write(
            folder.join(std::ffi::OsStr::from_bytes(b"b\xff.jsonl")),
            "{}\n",
        )
        .unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("loop")).unwrap();
        std::os::unix::fs::symlink("nowhere.jsonl", folder.join("dangling.jsonl")).unwrap();
        std::process::Command::new("mkfifo")
            .arg(folder.join("pipe.jsonl"))
            .status()
            .unwrap();
        let found = discover(home.path()).unwrap();
        let mut paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(paths, ["projects/-w/a.jsonl", "projects/-w/b\\xff.jsonl"]);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
    }
}
