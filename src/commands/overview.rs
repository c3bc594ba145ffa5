//! `cc-etl` without a command: imports what is new, then shows the last days and what needs attention.

use super::automatic::Automatic;
use super::{budget, database_path, doctor, fit_terminal, page, print, status, sync, warn};
use crate::cli::{Global, SyncArguments};
use crate::database::{self, statements as sql};
use crate::error::Result;
use crate::format::{Format, QueryRows, text};
use crate::query;
use crate::question;
use crate::table;
use crate::terminal::{self, Emphasis, byte_size, counted, sanitize, sanitize_json};
use crate::time_zone::TimeZone;
use rusqlite::Connection;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::Duration;

/// The most expensive sessions that are shown.
const SESSIONS: &str = "5";

pub fn run(global: &Global, is_json: bool) -> Result<()> {
    let path = database_path(global)?;
    match global.demo {
        true => sync::create_demo(global)?,
        false => bring_up_to_date(global, &path)?,
    }
    let connection = query::open(&path, Duration::from_secs(60))?;
    let overview = Overview::read(global, &connection, &path)?;
    match is_json {
        true => print(&sanitize_json(&overview.json().to_string())),
        false => page(global, &overview.text(global)),
    }
}

/// Imports what is new. What is in the database is shown even if that fails.
fn bring_up_to_date(global: &Global, path: &Path) -> Result<()> {
    let quiet = Global {
        quiet: true,
        ..global.clone()
    };
    let import = || sync::run(&quiet, &SyncArguments::default());
    if !path.exists() {
        import()?;
        warn(&format!("imported your history into {}", path.display()));
        return Ok(());
    }
    let new = database::open_read_only(path).and_then(|connection| status::unsynced(&connection));
    match new {
        Ok(new) if new.files == 0 => return Ok(()),
        Ok(new) if !global.quiet => {
            let files = counted(new.files, "file");
            warn(&format!("importing {} in {files}", byte_size(new.bytes)));
        }
        // An older schema, for example: the sync upgrades it.
        _ => {}
    }
    if let Err(error) = import() {
        warn(&format!("{error}; what follows may be out of date"));
    }
    Ok(())
}

struct Overview {
    zone: TimeZone,
    /// The last day of the periods: today; of the demo its last day.
    last_day: String,
    synced: String,
    periods: QueryRows,
    budgets: QueryRows,
    sessions: QueryRows,
    /// What needs attention, and what to do about it.
    attention: Vec<(String, String)>,
    /// What starts a sync by itself; none for the demo.
    automatic: Option<Automatic>,
}

impl Overview {
    fn read(global: &Global, connection: &Connection, path: &Path) -> Result<Overview> {
        let zone = TimeZone::read(connection)?;
        let last_day = match global.demo {
            true => {
                let (days, _) = query::run(connection, sql::LAST_DAY, &[], None)?;
                days.rows.first().map(|row| text(&row[0]))
            }
            false => None,
        };
        let last_day = last_day.unwrap_or_else(|| zone.today().to_string());
        let ask = |name: &str, parameters: &[(&str, &str)]| -> Result<QueryRows> {
            let known = question::builtin();
            let question = known.iter().find(|question| question.name == name);
            let question = question.expect("the question ships with the program");
            let given: Vec<(String, String)> = parameters
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect();
            let parameters = question.interpret(&given, &zone)?;
            Ok(query::run(connection, &question.sql, &parameters, None)?.0)
        };
        let periods = ask("periods", &[("today", &last_day)])?;
        let mut budgets = ask("budget_report", &[])?;
        budgets.select(&[
            "period",
            "project",
            "limit_usd",
            "spent_usd",
            "spent_share",
            "projected_usd",
            "state",
        ]);
        let week = [
            ("since", week_before(&last_day)),
            ("until", last_day.clone()),
            ("limit", SESSIONS.to_string()),
        ];
        let week: Vec<(&str, &str)> = week
            .iter()
            .map(|(name, day)| (*name, day.as_str()))
            .collect();
        let mut sessions = ask("expensive_sessions", &week)?;
        sessions.select(&["title", "project", "cost_usd", "session_id"]);
        let mut attention = match global.demo {
            true => Vec::new(),
            false => doctor::risks(path)?,
        };
        attention.extend(
            budget::of_state(connection, Some("over"))?
                .into_iter()
                .map(|what| (what, "cc-etl budget list".to_string())),
        );
        let (unpriced, _) = query::run(connection, sql::UNPRICED_MODELS, &[], None)?;
        attention.extend(unpriced.rows.iter().map(|row| {
            (
                format!(
                    "no price is known for {}: its cost is missing",
                    text(&row[0])
                ),
                "cc-etl prices check".to_string(),
            )
        }));
        let synced_at = status::Status::read(connection, path)?.synced_at;
        Ok(Overview {
            synced: status::age(&synced_at).unwrap_or_else(|| "never".to_string()),
            zone,
            last_day,
            periods,
            budgets,
            sessions,
            attention,
            automatic: (!global.demo).then(|| Automatic::of(path)),
        })
    }

    fn text(&self, global: &Global) -> String {
        let emphasis = Emphasis::new(global.color);
        let options = table::Options {
            width: terminal::size().map(|(width, _)| width),
            emphasis,
            zone: Some(&self.zone),
            ..table::Options::default()
        };
        let heading = |text: &str| emphasis.bold(text);
        let mut parts = vec![format!(
            "{}  {}\n\n{}",
            heading(&format!("Claude Code to {}", self.last_day)),
            emphasis.faint(&sanitize(&format!(
                "days in {}; last sync {}",
                self.zone.name, self.synced
            ))),
            table::draw(&self.periods, &options)
        )];
        if !self.budgets.rows.is_empty() {
            parts.push(format!(
                "{}\n{}",
                heading("Budgets"),
                table::draw(&self.budgets, &options)
            ));
        }
        if !self.sessions.rows.is_empty() {
            parts.push(format!(
                "{}\n{}",
                heading("Most expensive sessions of the last 7 days"),
                table::draw(&self.sessions, &options)
            ));
        }
        if !self.attention.is_empty() {
            let mut lines = vec![heading("Needs attention")];
            for (what, fix) in &self.attention {
                lines.push(format!("{} {}", emphasis.bad("!"), sanitize(what)));
                lines.push(format!("  {}", emphasis.faint(&sanitize(fix))));
            }
            parts.push(lines.join("\n"));
        }
        if let Some(automatic) = &self.automatic {
            let sentence = format!("Automatic: {}", automatic.sentence());
            parts.push(emphasis.faint(&fit_terminal(&sanitize(&sentence), "")));
        }
        let demo = if global.demo { "--demo " } else { "" };
        let more = format!(
            "More: cc-etl {demo}daily | query | search WORDS | show --last | report --out FILE"
        );
        parts.push(emphasis.faint(&fit_terminal(&more, "")));
        parts.join("\n\n")
    }

    fn json(&self) -> Json {
        let rows = |rows: &QueryRows| -> Json {
            let text = rows.format(Format::Json, true);
            serde_json::from_str(&text).expect("it was written as JSON")
        };
        let attention = self.attention.iter();
        let attention = attention.map(|(what, fix)| json!({"finding": what, "fix": fix}));
        json!({
            "last_day": self.last_day,
            "time_zone": self.zone.name,
            "periods": rows(&self.periods),
            "budgets": rows(&self.budgets),
            "sessions": rows(&self.sessions),
            "attention": attention.collect::<Vec<_>>(),
            "automatic": self.automatic.as_ref().map(Automatic::json),
        })
    }
}

/// The first of the seven days that end with this one.
fn week_before(day: &str) -> String {
    let first = day
        .parse()
        .ok()
        .and_then(|day: jiff::civil::Date| day.checked_sub(jiff::Span::new().days(6)).ok());
    first.map_or_else(|| day.to_string(), |first| first.to_string())
}
