//! `cc-etl config`: lists the settings of the database, and changes them.

use super::{database_path, print, warn};
use crate::cli::{ConfigArguments, Global, Setting};
use crate::database::{self, Wait, statements as sql};
use crate::error::{Error, Result};
use crate::load::Loader;
use crate::stop::Stop;
use crate::terminal::sanitize;
use crate::time_zone::{self, TimeZone};

pub fn run(global: &Global, arguments: &ConfigArguments) -> Result<()> {
    match &arguments.setting {
        None => {
            let zone = current_zone(global)?;
            print(&format!("time-zone  {zone}"))
        }
        Some(Setting::TimeZone { zone: None }) => print(&current_zone(global)?),
        Some(Setting::TimeZone { zone: Some(zone) }) => set_time_zone(global, zone),
    }
}

fn current_zone(global: &Global) -> Result<String> {
    let connection = database::open_read_only(&database_path(global)?)?;
    Ok(sanitize(&TimeZone::read(&connection)?.name).into_owned())
}

/// Changes the zone, and derives again what depends on it, in one transaction.
fn set_time_zone(global: &Global, zone: &str) -> Result<()> {
    let name = time_zone::canonical(zone).ok_or_else(|| unknown(zone))?;
    let path = database_path(global)?;
    database::open_read_only(&path)?;
    let _lock = database::lock(&path, Wait::No, &Stop::default())?;
    let connection = database::open(&path)?;
    let mut loader = Loader::new(&connection)?;
    loader.begin()?;
    connection.execute(sql::PUT_SETTING, [time_zone::SETTING, &name])?;
    loader.finish()?;
    let failures = std::mem::take(&mut loader.failures);
    drop(loader);
    if let Some(problem) = database::close(connection, &path) {
        warn(&problem.to_string());
    }
    if !global.quiet {
        print(&format!("days and times are now in {name}"))?;
    }
    (failures.iter()).for_each(|failure| warn(&failure.to_string()));
    match failures.len() {
        0 => Ok(()),
        count => Err(Error::Underived(count as u64)),
    }
}

/// The error for an unknown zone suggests similar names.
fn unknown(zone: &str) -> Error {
    let similar = time_zone::similar(zone);
    let zone = sanitize(zone);
    Error::Usage(match similar.is_empty() {
        true => format!("unknown time zone {zone}; give one like Europe/Berlin, or UTC"),
        false => format!(
            "unknown time zone {zone}; did you mean {}?",
            similar[..similar.len().min(5)].join(", ")
        ),
    })
}
