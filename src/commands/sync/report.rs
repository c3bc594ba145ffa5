//! The results of a sync, for people and for programs.

use super::Plan;
use crate::cli::{Global, SyncArguments};
use crate::commands::{print, warn};
use crate::database::statements as sql;
use crate::error::{Error, Problem, Result};
use crate::file_diff::Changes;
use crate::import::Imported;
use crate::load::Counts;
use crate::terminal::{byte_size, grouped, sanitize, sanitize_json};
use crate::timestamp;
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};

/// The results of a run.
pub struct Report {
    pub database: PathBuf,
    /// The homes that were read.
    pub homes: Vec<String>,
    pub started_at: String,
    pub files: usize,
    pub changed_files: usize,
    pub rewritten_files: usize,
    pub missing_files: usize,
    pub new_bytes: u64,
    pub plan: Plan,
    pub counts: Counts,
    pub problems: Vec<Problem>,
    /// Scripts that failed.
    pub failures: Vec<Problem>,
    /// Rejected fragments in the database, of this run and of earlier ones.
    pub all_rejected: i64,
    /// An optional step at the end that failed.
    pub unfinished: Option<Problem>,
    pub seconds: f64,
}

impl Report {
    pub fn new(database: &Path) -> Report {
        Report {
            database: database.to_path_buf(),
            homes: Vec::new(),
            started_at: timestamp::now(),
            files: 0,
            changed_files: 0,
            rewritten_files: 0,
            missing_files: 0,
            new_bytes: 0,
            plan: Plan::Add,
            counts: Counts::default(),
            problems: Vec::new(),
            failures: Vec::new(),
            all_rejected: 0,
            unfinished: None,
            seconds: 0.0,
        }
    }

    /// Counts what is new in a home.
    pub fn note(&mut self, home: &str, files: usize, changes: &mut Changes) {
        self.homes.push(home.to_string());
        self.files += files;
        self.problems.append(&mut changes.problems);
        self.changed_files += changes.files.len();
        self.rewritten_files += changes.rewritten().count();
        self.missing_files += changes.missing.len();
        self.new_bytes += changes.new_bytes();
    }

    /// Takes the problems of an import.
    pub fn note_problems(&mut self, mut imported: Imported) -> Imported {
        self.problems.append(&mut imported.problems);
        imported
    }

    /// The disk space that the rest of the run may need: the database is at most as large as its sources, plus the journal.
    pub fn needed_bytes(&self) -> u64 {
        const JOURNAL_BYTES: u64 = 32 << 20;
        self.new_bytes.saturating_sub(self.counts.bytes) + JOURNAL_BYTES
    }

    /// Records the run, unless no file changed.
    pub fn record(&self, connection: &Connection) -> Result<()> {
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

    pub fn print(&self, global: &Global, arguments: &SyncArguments) -> Result<()> {
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
    pub fn verdict(&self, is_strict: bool) -> Result<()> {
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

/// What to try after a first sync.
pub fn next_steps(global: &Global) -> String {
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
