//! `cc-etl doctor`: diagnoses risks, and prints a command that fixes each.

use super::automatic::Automatic;
use super::sync::background::{self, LastRun};
use super::{database_path, fit_terminal, print, status};
use crate::cli::{Global, ReportArguments};
use crate::database::{self, statements as sql};
use crate::discover::{self, Discovery, Kind, classify};
use crate::error::{Error, Result};
use crate::file_diff::{self, ChangedFile};
use crate::format::text;
use crate::machine::Machine;
use crate::settings;
use crate::terminal::{Emphasis, byte_size, counted, grouped, sanitize, sanitize_json};
use crate::time_zone::TimeZone;
use rusqlite::Connection;
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub fn run(global: &Global, arguments: &ReportArguments) -> Result<()> {
    let path = database_path(global)?;
    let mut findings = examine(&path)?;
    let mut automatic = Automatic::of(&path);
    // A failure was reported as a risk.
    let _ = automatic.last_run.take_if(|run| run.is_failure());
    findings.note(&automatic.sentence());
    match arguments.json {
        true => print(&sanitize_json(&findings.json().to_string()))?,
        false => findings.print(Emphasis::new(global.color))?,
    }
    match findings.risks() {
        0 if arguments.json => Ok(()),
        0 => print("nothing is at risk"),
        1 => Err(Error::CheckFailed("1 thing is at risk".to_string())),
        count => Err(Error::CheckFailed(format!("{count} things are at risk"))),
    }
}

/// What is at risk, each with what to do about it.
pub fn risks(path: &Path) -> Result<Vec<(String, String)>> {
    let risk = |finding: Finding| Some((finding.what, finding.fix?));
    Ok(examine(path)?.0.into_iter().filter_map(risk).collect())
}

fn examine(path: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    let connection = match database::open_read_only(path) {
        Ok(connection) => Some(connection),
        Err(error) => {
            findings.risk(&error.to_string(), "cc-etl sync");
            None
        }
    };
    let mut imported = Vec::new();
    for home in homes(connection.as_ref())? {
        let is_imported = inspect_home(&home, connection.as_ref(), &mut findings)?;
        imported.extend(is_imported.then(|| home.root.display().to_string()));
    }
    match imported.len() {
        0 => {}
        1 => findings.note(&format!("{}: fully imported", imported[0])),
        count => findings.note(&format!(
            "{count} homes are fully imported: {}",
            imported.join(", ")
        )),
    }
    if let Some(connection) = &connection {
        inspect_content(connection, path, &mut findings)?;
    }
    if let Some(run) = background::last_run(path).filter(LastRun::is_failure) {
        findings.risk(&run.sentence(), "cc-etl sync");
    }
    if path.exists() {
        inspect_files(path, &mut findings);
    }
    findings.note(&format!("SQLite {}", rusqlite::version()));
    Ok(findings)
}

/// What was found, and for a risk what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    what: String,
    fix: Option<String>,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn note(&mut self, what: &str) {
        self.add(what, None);
    }

    fn risk(&mut self, what: &str, fix: &str) {
        self.add(what, Some(fix));
    }

    /// What holds for several homes is one finding.
    fn add(&mut self, what: &str, fix: Option<&str>) {
        let finding = Finding {
            what: what.to_string(),
            fix: fix.map(str::to_string),
        };
        if !self.0.contains(&finding) {
            self.0.push(finding);
        }
    }

    fn risks(&self) -> usize {
        self.0
            .iter()
            .filter(|finding| finding.fix.is_some())
            .count()
    }

    fn print(&self, emphasis: Emphasis) -> Result<()> {
        const INDENT: &str = "        ";
        for Finding { what, fix } in &self.0 {
            let what = sanitize(what);
            let line = match fix {
                None => format!("{}      {what}", emphasis.good("ok")),
                Some(_) => format!("{}    {what}", emphasis.bad("RISK")),
            };
            print(&fit_terminal(&line, INDENT))?;
            if let Some(fix) = fix {
                print(&format!("{INDENT}{}", emphasis.bold(&sanitize(fix))))?;
            }
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let finding = |finding: &Finding| {
            let status = if finding.fix.is_some() { "risk" } else { "ok" };
            json!({ "status": status, "finding": finding.what, "fix": finding.fix })
        };
        let findings: Vec<Json> = self.0.iter().map(finding).collect();
        json!({ "risk_count": self.risks(), "findings": findings })
    }
}

/// A home on this machine, with its key if it was imported.
struct Home {
    root: PathBuf,
    source_id: Option<i64>,
}

/// The imported homes that exist on this machine, and those that a sync would import.
fn homes(connection: Option<&Connection>) -> Result<Vec<Home>> {
    let mut homes = Vec::new();
    if let Some(connection) = connection {
        for (source_id, root) in file_diff::homes_at_hand(connection, &Machine::this())? {
            homes.push(Home {
                root,
                source_id: Some(source_id),
            });
        }
    }
    // No home at all is not a risk: the database may hold the demo.
    for root in discover::default_homes().unwrap_or_default() {
        let root = fs::canonicalize(&root).unwrap_or(root);
        if root.is_dir() && !homes.iter().any(|home| home.root == root) {
            homes.push(Home {
                root,
                source_id: None,
            });
        }
    }
    Ok(homes)
}

/// Returns whether all of the home is imported.
fn inspect_home(
    home: &Home,
    connection: Option<&Connection>,
    findings: &mut Findings,
) -> Result<bool> {
    let found = discover::discover(&home.root)?;
    let name = home.root.display();
    let unread = match (home.source_id, connection) {
        (Some(source_id), Some(connection)) => {
            let changes = file_diff::compare(connection, source_id, &found, false)?;
            let (count, bytes) = (changes.files.len(), changes.new_bytes());
            match count {
                0 => {}
                _ => findings.risk(
                    &format!(
                        "{name}: {} in {} not imported",
                        byte_size(bytes),
                        counted(count as i64, "file")
                    ),
                    "cc-etl sync",
                ),
            }
            Some(changes.files)
        }
        _ if found.files.is_empty() => {
            findings.note(&format!("{name}: never imported, and empty"));
            None
        }
        _ => {
            findings.risk(
                &format!(
                    "{name}: never imported, {}",
                    counted(found.files.len() as i64, "file")
                ),
                &format!("cc-etl sync --source '{name}'"),
            );
            None
        }
    };
    for problem in &found.problems {
        findings.risk(&problem.to_string(), "make it readable, then cc-etl sync");
    }
    inspect_retention(&home.root, &found, unread.as_deref(), findings);
    Ok(unread.is_some_and(|files| files.is_empty()))
}

/// When Claude Code deletes transcripts.
#[derive(Debug, PartialEq, Eq)]
enum Retention {
    /// After this many days.
    Days(u64),
    /// Claude Code does not write any.
    Nothing,
    /// The settings are invalid, for this reason. Newer versions then delete nothing.
    Unknown(String),
}

/// The effective `cleanupPeriodDays` of a home: settings.local.json overrides settings.json, and the default is 30.
fn retention(home: &Path) -> Retention {
    let mut days = Retention::Days(30);
    for name in ["settings.json", "settings.local.json"] {
        let content = match fs::read_to_string(home.join(name)) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Retention::Unknown(format!("{name}: {error}")),
        };
        let settings = match settings::values(&content) {
            Ok(settings) => settings,
            Err(error) => return Retention::Unknown(format!("{name}: {error}")),
        };
        days = match settings.get("cleanupPeriodDays") {
            None => days,
            Some(value) => match value.as_u64() {
                Some(0) => Retention::Nothing,
                Some(days) => Retention::Days(days),
                None => Retention::Unknown(format!("{name}: cleanupPeriodDays is {value}")),
            },
        };
    }
    days
}

/// Reports files that will be deleted within this many days.
const SOON_DAYS: u64 = 7;

fn inspect_retention(
    home: &Path,
    found: &Discovery,
    unread: Option<&[ChangedFile]>,
    findings: &mut Findings,
) {
    let settings = home.join("settings.json");
    let settings = settings.display();
    let days = match retention(home) {
        Retention::Days(days) => days,
        Retention::Nothing => {
            let what =
                "cleanupPeriodDays is 0: Claude Code writes no transcripts, or fails to start";
            return findings.risk(what, &format!("set it to a number of days in {settings}"));
        }
        Retention::Unknown(why) => {
            let what = format!("cannot determine when Claude Code deletes transcripts: {why}");
            return findings.risk(&what, &format!("fix {settings}"));
        }
    };
    let unread: Option<HashSet<&str>> = unread.map(|files| {
        files
            .iter()
            .map(|file| file.version.path.as_str())
            .collect()
    });
    let mut due = (0, 0);
    let mut lost = (0, 0);
    for file in &found.files {
        let is_swept = matches!(
            classify(&file.path).kind,
            Kind::Session | Kind::Agent | Kind::Journal | Kind::Transcript | Kind::ToolResult
        );
        if !is_swept || days_left(file.stat.modified_ns, days) > SOON_DAYS {
            continue;
        }
        due = (due.0 + 1, due.1 + file.stat.size);
        if unread
            .as_ref()
            .is_none_or(|unread| unread.contains(file.path.as_str()))
        {
            lost = (lost.0 + 1, lost.1 + file.stat.size);
        }
    }
    if due.0 == 0 {
        return findings.note(&format!(
            "Claude Code deletes transcripts after {days} days: none within the next {SOON_DAYS}"
        ));
    }
    let what = format!(
        "{}: Claude Code deletes transcripts after {days} days: {}, {}, within the next {SOON_DAYS}",
        home.display(),
        counted(due.0, "file"),
        byte_size(due.1)
    );
    match lost.0 {
        0 => findings.note(&format!("{what}; all of them are imported")),
        count => findings.risk(
            &format!(
                "{what}; {} of them, {}, are not imported",
                grouped(count),
                byte_size(lost.1)
            ),
            &format!("cc-etl sync, and set a larger cleanupPeriodDays in {settings}"),
        ),
    }
}

/// Days until a file is `days` old; 0 if it is older.
fn days_left(modified_ns: i64, days: u64) -> u64 {
    let modified = UNIX_EPOCH + Duration::from_nanos(modified_ns.max(0).cast_unsigned());
    let age = SystemTime::now()
        .duration_since(modified)
        .unwrap_or_default();
    days.saturating_sub(age.as_secs() / 86_400)
}

fn inspect_content(connection: &Connection, path: &Path, findings: &mut Findings) -> Result<()> {
    let synced_at = status::Status::read(connection, path)?.synced_at;
    findings.note(&format!(
        "last sync: {}",
        status::ago(&synced_at, &TimeZone::read(connection)?)
    ));
    let rejects = database::query_rows(connection, sql::REJECTS_BY_REASON)?;
    match rejects.rows.is_empty() {
        true => findings.note("no line was rejected"),
        false => {
            let reasons: Vec<String> = rejects
                .rows
                .iter()
                .map(|row| format!("{} {}", text(&row[1]), text(&row[0])))
                .collect();
            // Not a risk: their bytes are kept.
            findings.note(&format!(
                "rejected fragments, kept with their bytes: {}; list them with cc-etl query --sql 'select * from rejected_lines'",
                reasons.join(", ")
            ));
        }
    }
    let kinds = database::query_rows(connection, sql::NEW_KINDS)?;
    match kinds.rows.is_empty() {
        true => findings.note("every record type is known"),
        false => {
            let names: Vec<String> = kinds.rows.iter().map(|row| text(&row[1])).collect();
            findings.note(&format!(
                "unknown record types, kept as JSON: {}; if a newer cc-etl knows them, install it and run cc-etl rebuild",
                names.join(", ")
            ));
        }
    }
    Ok(())
}

/// Write-ahead logs up to this size are normal.
const NORMAL_WAL_BYTES: u64 = 64 << 20;

fn inspect_files(path: &Path, findings: &mut Findings) {
    let wal = status::file_bytes(&database::with_suffix(path, "-wal"));
    match wal {
        0..=NORMAL_WAL_BYTES => findings.note(&format!("the write-ahead log has {}", byte_size(wal))),
        _ => findings.risk(
            &format!(
                "the write-ahead log has {}: a long-running reader prevents its truncation, and a copy of the database file alone is incomplete",
                byte_size(wal)
            ),
            "close that reader, then cc-etl sync; copy with cc-etl backup FILE",
        ),
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut open = Vec::new();
        for suffix in ["", "-wal", "-shm", ".lock", ".log"] {
            let file = database::with_suffix(path, suffix);
            if fs::metadata(&file).is_ok_and(|data| data.permissions().mode() & 0o077 != 0) {
                open.push(format!("'{}'", file.display()));
            }
        }
        match open.is_empty() {
            true => findings.note("only its owner can read the database"),
            false => findings.risk(
                "other users of this machine can read the database, which holds all your prompts and tool results",
                &format!("chmod 600 {}", open.join(" ")),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(settings: &[(&str, &str)]) -> Retention {
        let home = tempfile::tempdir().unwrap();
        for (name, content) in settings {
            fs::write(home.path().join(name), content).unwrap();
        }
        retention(home.path())
    }

    #[test]
    fn transcripts_are_kept_for_thirty_days_unless_settings_say_otherwise() {
        assert_eq!(with(&[]), Retention::Days(30));
        assert_eq!(with(&[("settings.json", "{}")]), Retention::Days(30));
        let year = ("settings.json", "{\"cleanupPeriodDays\": 365}");
        assert_eq!(with(&[year]), Retention::Days(365));
        let local = ("settings.local.json", "{\"cleanupPeriodDays\": 5}");
        assert_eq!(with(&[year, local]), Retention::Days(5));
        let marked = ("settings.json", "\u{feff}{\"cleanupPeriodDays\": 7}");
        assert_eq!(with(&[marked]), Retention::Days(7));
        let none = ("settings.json", "{\"cleanupPeriodDays\": 0}");
        assert_eq!(with(&[none]), Retention::Nothing);
        assert!(matches!(
            with(&[("settings.json", "{")]),
            Retention::Unknown(_)
        ));
        let odd = ("settings.json", "{\"cleanupPeriodDays\": \"long\"}");
        assert!(matches!(with(&[odd]), Retention::Unknown(_)));
    }

    #[test]
    fn days_left_are_those_until_the_file_is_as_old_as_the_setting() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let days_ago = |days: u64| {
            let moment = now - Duration::from_secs(days * 86_400 + 60);
            i64::try_from(moment.as_nanos()).unwrap()
        };
        assert_eq!(days_left(days_ago(0), 30), 30);
        assert_eq!(days_left(days_ago(29), 30), 1);
        assert_eq!(days_left(days_ago(100), 30), 0);
    }
}
