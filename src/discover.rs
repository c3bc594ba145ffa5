//! A Claude home -> its source files, classified by path and not yet opened.

mod homes;
mod walk;

use crate::error::{Error, Problem, Result};
use crate::pipeline::start_workers;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

pub use homes::{default_homes, global_settings, product};

/// A file of a home that a sync reads.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Its absolute path.
    pub absolute: PathBuf,
    /// Relative to the home, with `/`; backslashes and bytes that are not UTF-8 are written as `\xNN`.
    pub path: String,
    /// The raw relative path, if it differs.
    pub path_bytes: Option<Vec<u8>>,
    pub stat: Stat,
}

/// The metadata that shows whether a file may have changed.
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

/// The files of a home.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Files to read.
    pub files: Vec<SourceFile>,
    /// Folders that could not be listed, and files without metadata.
    pub problems: Vec<Problem>,
    /// The relative paths of the problems. Files below them are not missing.
    pub unknown: Vec<String>,
}

/// What the path of a file says about its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The kind of file.
    pub kind: Kind,
    /// How it is read.
    pub reading: Reading,
    /// The folder under `projects/`.
    pub directory_name: Option<String>,
    /// The session in the path.
    pub session_id: Option<String>,
    /// The agent in the file name.
    pub agent_id: Option<String>,
    /// Where the lines of the agent are stored.
    pub layout: Layout,
    /// The workflow run of the file.
    pub workflow_id: Option<String>,
}

/// The kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `projects/<dir>/<session>.jsonl`
    Session,
    /// `agent-<id>.jsonl`, next to the sessions or under `<session>/subagents/`
    Agent,
    /// `journal.jsonl` of a workflow
    Journal,
    /// Any other JSONL under `projects/`
    Transcript,
    /// `history.jsonl`
    History,
    /// `todos/*.json`
    Todo,
    /// `tasks/<list>/<n>.json`
    Task,
    /// `plans/<slug>.md`
    Plan,
    /// `<session>/tool-results/*`
    ToolResult,
    /// `paste-cache/<hash>.txt`, `image-cache/<session>/*`
    Paste,
    /// `file-history/<session>/<hash>@v<n>`
    FileBackup,
    /// `stats-cache.json`
    Statistics,
    /// `sessions-index.json`, `<session>/custom-title.json`
    SessionIndex,
    /// `agent-<id>.meta.json`
    AgentMeta,
    /// `<session>/workflows/*`
    Workflow,
    /// `projects/<dir>/memory/*.md`
    Memory,
    /// `usage-data/facets/<session>.json`
    SessionFacet,
    /// `usage-data/session-meta/<session>.json`
    SessionMeta,
    /// Everything else.
    Other,
}

impl Kind {
    /// Whether the path of a file names the session that its rows reference, whatever the file holds. The list of a task
    /// need not be a session, and transcripts name theirs in each line.
    pub fn is_of_session(self) -> bool {
        matches!(
            self,
            Kind::Todo
                | Kind::ToolResult
                | Kind::AgentMeta
                | Kind::Workflow
                | Kind::SessionFacet
                | Kind::SessionMeta
        )
    }
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Archived; every line is a record.
    Lines,
    /// Archived; the file as a whole is a document.
    Whole,
    /// Archived, but not parsed.
    Archive,
    /// Only its size is stored, because it has no use or may contain secrets.
    Count,
}

/// Where the lines of an agent are stored, which depends on the version of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Among the lines of its session.
    Inline,
    /// In a file next to that of its session.
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
            Kind::Todo => "todo",
            Kind::Task => "task",
            Kind::Plan => "plan",
            Kind::ToolResult => "tool_result",
            Kind::Paste => "paste",
            Kind::FileBackup => "file_backup",
            Kind::Statistics => "statistics",
            Kind::SessionIndex => "session_index",
            Kind::AgentMeta => "agent_meta",
            Kind::Workflow => "workflow",
            Kind::Memory => "memory",
            Kind::SessionFacet => "session_facet",
            Kind::SessionMeta => "session_meta",
            Kind::Other => "other",
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

fn no_home_message(what: &str) -> String {
    format!(
        "{what}\nname a Claude home with --source DIR or CLAUDE_CONFIG_DIR\nor try the demo: cc-etl --demo"
    )
}

/// Returns an error if a home does not exist, or is a folder inside of one: nothing would be found there.
pub fn expect(home: &Path) -> Result<()> {
    if !home.is_dir() {
        let what = format!("{} is not a folder", home.display());
        return Err(Error::NoSource(no_home_message(&what)));
    }
    match enclosing_home(home) {
        Some(outer) if !is_home(home) => Err(Error::NoSource(format!(
            "{} is a folder inside of a Claude home\nname the home: --source {}",
            home.display(),
            outer.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether a folder has a file or folder that is read in a home.
fn is_home(folder: &Path) -> bool {
    READ.iter().any(|name| folder.join(name).exists())
}

/// The home that a folder is in: it has `projects`, and the folder is one of those that are read in it, or below one.
fn enclosing_home(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let mut outer = folder.ancestors().skip(1);
    let home = outer.find(|outer| {
        let inside = folder.strip_prefix(outer);
        inside.is_ok_and(is_read) && outer.join("projects").is_dir()
    });
    home.map(Path::to_path_buf)
}

/// Finds the files of a home.
pub fn discover(home: &Path) -> Result<Discovery> {
    expect(home)?;
    start_workers().map_err(Error::io(home))?;
    let mut found = walk::walk(home);
    found.problems.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The home of a transcript: the folder above `projects/`.
pub fn home_of(transcript: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(transcript).map_err(Error::io(transcript))?;
    let home = absolute
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "projects"))
        .and_then(Path::parent);
    match home {
        Some(_) if !absolute.exists() => Err(Error::NoSource(format!(
            "{} is not a file",
            transcript.display()
        ))),
        Some(home) => Ok(home.to_path_buf()),
        None => Err(Error::Usage(format!(
            "{} is not below a folder named projects, so it is no transcript of a Claude home",
            transcript.display()
        ))),
    }
}

/// Finds one transcript of a home.
pub fn discover_file(home: &Path, transcript: &Path) -> Result<Discovery> {
    let absolute = std::path::absolute(transcript).map_err(Error::io(transcript))?;
    let relative = absolute
        .strip_prefix(home)
        .expect("a transcript is in its home")
        .to_path_buf();
    let mut found = Discovery::default();
    // A link given by the user is followed to its target.
    let real = fs::canonicalize(&absolute).unwrap_or(absolute);
    found.file(real.clone(), &relative, fs::metadata(&real));
    if found.files.is_empty() && found.problems.is_empty() {
        let what = format!("{} is not a file", transcript.display());
        return Err(Error::NoSource(what));
    }
    Ok(found)
}

impl Discovery {
    fn file(&mut self, absolute: PathBuf, relative: &Path, metadata: io::Result<Metadata>) {
        match metadata {
            Ok(metadata) if metadata.is_file() => {
                let (path, path_bytes) = portable(relative);
                self.files.push(SourceFile {
                    absolute,
                    path,
                    path_bytes,
                    stat: Stat::of(&metadata),
                });
            }
            Ok(_) => {}
            Err(error) => self.problem(&absolute, relative, &error),
        }
    }

    fn problem(&mut self, absolute: &Path, relative: &Path, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.problems.push(Problem::new(absolute, error));
            self.unknown.push(portable(relative).0);
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
            modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            device: metadata.dev().cast_signed(),
            inode: metadata.ino().cast_signed(),
        }
    }

    /// The stat of a file, open or not. On systems without inodes only size and time are compared.
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

/// A time since 1970. File systems keep times that 64 bits of nanoseconds cannot.
#[cfg(unix)]
fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}

/// The folders and files of a home that are read.
pub const READ: &[&str] = &[
    "projects",
    "history.jsonl",
    "todos",
    "tasks",
    "plans",
    "paste-cache",
    "image-cache",
    "file-history",
    "teams",
    "stats-cache.json",
    "usage-data",
];

pub fn is_read(relative: &Path) -> bool {
    let first = relative.components().next();
    first.is_some_and(|first| READ.iter().any(|name| first.as_os_str() == *name))
}

/// A relative path as text with `/`, and its bytes where the text is another.
fn portable(relative: &Path) -> (String, Option<Vec<u8>>) {
    let mut bytes = relative.as_os_str().as_encoded_bytes().to_vec();
    if std::path::MAIN_SEPARATOR != '/' {
        let separator = std::path::MAIN_SEPARATOR as u8;
        bytes
            .iter_mut()
            .filter(|byte| **byte == separator)
            .for_each(|byte| *byte = b'/');
    }
    let text = escape_path(&bytes);
    match text.as_bytes() == bytes {
        true => (text, None),
        false => (text, Some(bytes)),
    }
}

/// A path as text that no other path has: backslashes, and bytes that are not UTF-8, are written as `\xNN`.
pub fn escape_path(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\x5c"));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Classifies a file by its relative path.
pub fn classify(path: &str) -> Place {
    let parts: Vec<&str> = path.split('/').collect();
    let name = parts.last().copied().unwrap_or_default();
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    let is_lines = stem.len() < name.len();
    let is_json = name.ends_with(".json");
    let place = |kind, reading| Place {
        kind,
        reading,
        directory_name: match parts.as_slice() {
            ["projects", directory, _, ..] => Some((*directory).to_string()),
            _ => None,
        },
        session_id: None,
        agent_id: None,
        layout: Layout::Inline,
        workflow_id: None,
    };
    let of_session = |kind, reading, session: &str| Place {
        session_id: Some(session.to_string()),
        ..place(kind, reading)
    };
    match parts.as_slice() {
        ["projects", _, _] if is_lines && is_uuid(stem) => {
            of_session(Kind::Session, Reading::Lines, stem)
        }
        ["projects", _, _] if is_lines && stem.starts_with("agent-") => Place {
            agent_id: agent_id(stem),
            layout: Layout::Flat,
            ..place(Kind::Agent, Reading::Lines)
        },
        ["projects", _, session, "subagents", folders @ .., _] => {
            let layout = match folders.first() {
                Some(&"workflows") => Layout::Workflow,
                _ => Layout::Nested,
            };
            let meta = name.strip_suffix(".meta.json");
            let (kind, reading, agent_id) = match (agent_id(stem), meta.and_then(agent_id)) {
                (_, Some(agent)) => (Kind::AgentMeta, Reading::Whole, Some(agent)),
                (Some(agent), _) if is_lines => (Kind::Agent, Reading::Lines, Some(agent)),
                _ if is_lines && stem == "journal" => (Kind::Journal, Reading::Lines, None),
                _ if is_lines => (Kind::Transcript, Reading::Lines, None),
                _ => (Kind::Other, Reading::Count, None),
            };
            Place {
                agent_id,
                layout,
                workflow_id: folders
                    .get(1)
                    .filter(|_| layout == Layout::Workflow)
                    .map(ToString::to_string),
                ..of_session(kind, reading, session)
            }
        }
        ["projects", _, .., _] if is_lines && stem == "journal" => {
            place(Kind::Journal, Reading::Lines)
        }
        ["projects", _, .., _] if is_lines => place(Kind::Transcript, Reading::Lines),
        ["projects", _, session, "tool-results", ..] => {
            of_session(Kind::ToolResult, Reading::Whole, session)
        }
        ["projects", _, session, "workflows", _] if is_json => {
            of_session(Kind::Workflow, Reading::Whole, session)
        }
        ["projects", _, session, "workflows", ..] => {
            of_session(Kind::Workflow, Reading::Archive, session)
        }
        ["projects", _, session, "custom-title.json"] => {
            of_session(Kind::SessionIndex, Reading::Whole, session)
        }
        ["projects", _, "sessions-index.json"] => place(Kind::SessionIndex, Reading::Whole),
        ["projects", _, "memory", ..] if name.ends_with(".md") => {
            place(Kind::Memory, Reading::Whole)
        }
        ["history.jsonl"] => place(Kind::History, Reading::Lines),
        ["todos", _] if is_json => {
            let stem = name.trim_end_matches(".json");
            let (session, agent) = match stem.split_once("-agent-") {
                Some((session, agent)) => (session, (agent != session).then(|| agent.to_string())),
                None => (stem, None),
            };
            Place {
                agent_id: agent,
                ..of_session(Kind::Todo, Reading::Whole, session)
            }
        }
        ["tasks", list, _] if is_json => of_session(Kind::Task, Reading::Whole, list),
        ["plans", ..] if name.ends_with(".md") => place(Kind::Plan, Reading::Whole),
        ["paste-cache", ..] => place(Kind::Paste, Reading::Whole),
        ["image-cache", session, ..] => of_session(Kind::Paste, Reading::Archive, session),
        ["file-history", session, _] => of_session(Kind::FileBackup, Reading::Archive, session),
        ["teams", ..] if is_json => place(Kind::Other, Reading::Archive),
        ["stats-cache.json"] => place(Kind::Statistics, Reading::Whole),
        ["usage-data", "facets", _] if is_json => of_session(
            Kind::SessionFacet,
            Reading::Whole,
            name.trim_end_matches(".json"),
        ),
        ["usage-data", "session-meta", _] if is_json => of_session(
            Kind::SessionMeta,
            Reading::Whole,
            name.trim_end_matches(".json"),
        ),
        _ => place(Kind::Other, Reading::Count),
    }
}

/// The agent of a file named `agent-<id>`.
fn agent_id(stem: &str) -> Option<String> {
    stem.strip_prefix("agent-").map(str::to_string)
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
        let meta = classify(&format!(
            "projects/-w/{SESSION}/subagents/agent-a1.meta.json"
        ));
        assert_eq!(
            (meta.kind, meta.agent_id.as_deref()),
            (Kind::AgentMeta, Some("a1"))
        );
        assert_eq!(
            kind(&format!("projects/-w/{SESSION}/tool-results/b1.txt")),
            Kind::ToolResult
        );
        assert_eq!(kind("projects/-w/sessions-index.json"), Kind::SessionIndex);
        assert_eq!(kind("projects/-w/memory/MEMORY.md"), Kind::Memory);
        assert_eq!(kind("tasks/list/1.json"), Kind::Task);
        let facet = classify(&format!("usage-data/facets/{SESSION}.json"));
        assert_eq!(
            (facet.kind, facet.session_id.as_deref()),
            (Kind::SessionFacet, Some(SESSION))
        );
        assert_eq!(
            kind(&format!("usage-data/session-meta/{SESSION}.json")),
            Kind::SessionMeta
        );
        assert_eq!(kind("usage-data/report.html"), Kind::Other);
        let todo = classify(&format!("todos/{SESSION}-agent-a1.json"));
        assert_eq!(
            (todo.session_id.as_deref(), todo.agent_id.as_deref()),
            (Some(SESSION), Some("a1"))
        );
        assert_eq!(
            classify(&format!("todos/{SESSION}-agent-{SESSION}.json")).agent_id,
            None
        );
    }

    #[test]
    fn what_may_hold_secrets_is_never_opened() {
        for path in [
            ".credentials.json",
            ".claude.json",
            "sessions/4242.0123abcd.key",
            "settings.json",
            "shell-snapshots/snapshot-bash-1.sh",
            "anything/new.json",
            "projects/-w/unknown.bin",
        ] {
            assert_eq!(classify(path).reading, Reading::Count, "{path}");
        }
    }

    #[test]
    fn no_two_paths_are_the_same_text() {
        let paths: [&[u8]; 7] = [
            b"a\xff",
            b"a\\xff",
            b"a\\x5cxff",
            b"a\\",
            b"a\\x5c",
            b"a\\\xff",
            "a\u{fffd}".as_bytes(),
        ];
        let texts: std::collections::HashSet<String> = paths.map(escape_path).into();
        assert_eq!(texts.len(), paths.len());
        assert_eq!(escape_path(b"projects/-w/a.jsonl"), "projects/-w/a.jsonl");
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
        // A project elsewhere, under two names, with a way back.
        let other = tempfile::tempdir().unwrap();
        fs::create_dir_all(other.path().join("deep")).unwrap();
        fs::write(other.path().join("deep/c.jsonl"), "{}\n").unwrap();
        let projects = home.path().join("projects");
        std::os::unix::fs::symlink(other.path(), projects.join("other")).unwrap();
        std::os::unix::fs::symlink(other.path(), projects.join("other-again")).unwrap();
        std::os::unix::fs::symlink(home.path(), other.path().join("deep/back")).unwrap();
        std::os::unix::fs::symlink("deep/c.jsonl", other.path().join("link.jsonl")).unwrap();
        std::os::unix::fs::symlink("nowhere.jsonl", folder.join("dangling.jsonl")).unwrap();
        std::process::Command::new("mkfifo")
            .arg(folder.join("pipe.jsonl"))
            .status()
            .unwrap();
        let found = discover(home.path()).unwrap();
        let mut paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        paths.sort_unstable();
        let expected = [
            "projects/-w/a.jsonl",
            "projects/-w/b\\xff.jsonl",
            "projects/other/deep/c.jsonl",
            "projects/other/link.jsonl",
        ];
        assert_eq!(paths, expected);
        let problems: Vec<_> = found.problems.iter().map(|problem| &problem.path).collect();
        assert_eq!(problems, [&projects.join("other/deep/back")]);
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_nothing_that_is_not_read_anyway() {
        use std::os::unix::fs::symlink;
        let parent = tempfile::tempdir().unwrap();
        let home = parent.path().join("home");
        for folder in ["projects/-w/deep", "file-history", "plans"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let outside = parent.path().join("outside");
        fs::create_dir_all(outside.join("folder")).unwrap();
        fs::write(outside.join("secret.jsonl"), "{}\n").unwrap();
        fs::write(outside.join("folder/shadow"), "root:").unwrap();
        fs::write(home.join(".credentials.json"), "{}").unwrap();
        fs::write(home.join("projects/-w/a.jsonl"), "{}\n").unwrap();
        let refused = [
            ("file-history/etc", "../../outside/folder"),
            ("file-history/up", ".."),
            ("plans/secret.md", "../../outside/secret.jsonl"),
            ("projects/-w/deep/out", "../../../../outside/folder"),
            ("projects/-w/key.jsonl", "../../.credentials.json"),
            ("projects/-w/out.jsonl", "../../../outside/secret.jsonl"),
            ("stats-cache.json", ".credentials.json"),
            ("todos", "../outside"),
        ];
        for (link, target) in refused {
            symlink(target, home.join(link)).unwrap();
        }
        // It would not be read under any name.
        symlink("../../.credentials.json", home.join("projects/-w/key.txt")).unwrap();
        symlink("a.jsonl", home.join("projects/-w/same.jsonl")).unwrap();
        symlink("../projects/-w/a.jsonl", home.join("plans/a.md")).unwrap();
        let found = discover(&home).unwrap();
        let mut read: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
        read.sort_unstable();
        let expected = [
            ".credentials.json",
            "plans/a.md",
            "projects/-w/a.jsonl",
            "projects/-w/same.jsonl",
        ];
        assert_eq!(read, expected);
        let problems = found.problems.iter();
        let problems: Vec<_> = problems.map(|problem| problem.path.clone()).collect();
        assert_eq!(
            problems,
            refused.map(|(link, _)| home.join(link).display().to_string())
        );
        assert_eq!(found.unknown.len(), refused.len());
    }

    #[cfg(unix)]
    #[test]
    fn the_home_its_projects_and_each_project_may_be_links() {
        use std::os::unix::fs::symlink;
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        fs::create_dir_all(path("home")).unwrap();
        fs::create_dir_all(path("all/-v")).unwrap();
        fs::create_dir_all(path("one")).unwrap();
        fs::write(path("all/-v/a.jsonl"), "{}\n").unwrap();
        fs::write(path("one/b.jsonl"), "{}\n").unwrap();
        symlink(path("all"), path("home/projects")).unwrap();
        symlink(path("one"), path("all/-w")).unwrap();
        symlink(path("home"), path("link")).unwrap();
        let found = discover(&path("link")).unwrap();
        let mut read: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
        read.sort_unstable();
        assert_eq!(read, ["projects/-v/a.jsonl", "projects/-w/b.jsonl"]);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
    }
}
