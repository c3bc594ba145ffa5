//! The time zone of a database, in which its views count days and hours.
//!
//! Its name is a setting, and its offsets are the rows of `time_zone_offsets`, from the tz database in the program. What the
//! program prints is converted with those rows, as the views do it, so that both agree.

use crate::database::statements as sql;
use crate::error::Result;
use crate::timestamp;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone as Rules, TimeZoneDatabase};
use rusqlite::{Connection, OptionalExtension};

/// The setting with the name of the zone.
pub const SETTING: &str = "time_zone";

/// The zone of a database that has none yet, where the system does not name its own.
pub const UTC: &str = "UTC";

/// The zone of a database.
pub struct TimeZone {
    pub name: String,
    /// From when on an offset holds, and its seconds; ascending.
    offsets: Vec<(String, i64)>,
}

impl TimeZone {
    pub fn read(connection: &Connection) -> Result<TimeZone> {
        let mut find = connection.prepare(sql::FIND_SETTING)?;
        let name = find.query_row([SETTING], |row| row.get(0)).optional()?;
        let offsets = stored_offsets(connection)?.into_iter();
        Ok(TimeZone {
            name: name.unwrap_or_else(|| UTC.to_string()),
            offsets: offsets
                .filter_map(|(begins_at, offset)| Some((begins_at, seconds(&offset)?)))
                .collect(),
        })
    }

    /// The local time of a timestamp of our format, as `2026-01-31 10:15:00.000`.
    pub fn local(&self, moment: &str) -> Option<String> {
        let milliseconds = timestamp::to_milliseconds(moment)?;
        let after = self
            .offsets
            .partition_point(|(begins_at, _)| begins_at.as_str() <= moment);
        let offset = self.offsets.get(after.checked_sub(1)?)?.1;
        let local = timestamp::from_milliseconds(milliseconds + offset * 1000)?;
        Some(local.trim_end_matches('Z').replace('T', " "))
    }

    /// The local time to the minute; what is no timestamp is returned as it is.
    pub fn minute(&self, moment: &str) -> String {
        let local = self.local(moment);
        local.map_or_else(|| moment.to_string(), |local| local[..16].to_string())
    }

    /// The local day of a timestamp; what is no timestamp is returned as it is.
    pub fn day(&self, moment: &str) -> String {
        let local = self.local(moment);
        local.map_or_else(|| moment.to_string(), |local| local[..10].to_string())
    }

    /// The current day.
    pub fn today(&self) -> Date {
        let today = self.day(&timestamp::now());
        let today = today.get(..10).and_then(|today| today.parse().ok());
        today.expect("the clock has a year of four digits")
    }
}

/// The name of the system's zone, if it has one of the tz database.
pub fn of_system() -> Option<String> {
    let system = Rules::try_system().ok()?;
    match canonical(system.iana_name()?)? {
        name if name == "Etc/UTC" => Some(UTC.to_string()),
        name => Some(name),
    }
}

/// The name of a zone as the tz database writes it: lower and upper case are the same.
pub fn canonical(name: &str) -> Option<String> {
    let zone = TimeZoneDatabase::bundled().get(name).ok()?;
    zone.iana_name().map(str::to_string)
}

/// Names of zones that contain a text, like `Europe/Berlin` for `berlin`.
pub fn similar(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace(' ', "_");
    let names = TimeZoneDatabase::bundled();
    let names = names.available().map(|name| name.to_string());
    names
        .filter(|name| !text.is_empty() && name.to_lowercase().contains(&text))
        .collect()
}

/// The last year whose changes of the offset are rows. They follow today's rules.
const LAST_YEAR: i16 = 2100;

/// The first timestamp of our format.
const FIRST: &str = "0000-01-01T00:00:00.000Z";

/// The offsets of a zone, each with the timestamp from which it holds; ascending and never twice the same.
pub fn offsets(name: &str) -> Option<Vec<(String, String)>> {
    let zone = TimeZoneDatabase::bundled().get(name).ok()?;
    let first: Timestamp = FIRST.parse().expect("a timestamp");
    let mut last = zone.to_offset(first);
    let mut offsets = vec![(FIRST.to_string(), written(last))];
    for change in zone.following(first) {
        let moment = change.timestamp();
        if moment.to_zoned(Rules::UTC).year() > LAST_YEAR {
            break;
        }
        if change.offset() != last {
            last = change.offset();
            let begins_at = moment.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string();
            offsets.push((begins_at, written(last)));
        }
    }
    Some(offsets)
}

/// The offsets in a database.
pub fn stored_offsets(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(sql::TIME_ZONE_OFFSETS)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// An offset as SQLite's date functions take it: `+05:30`, of earlier centuries `-04:56:02`.
fn written(offset: Offset) -> String {
    let sign = if offset.is_negative() { '-' } else { '+' };
    let seconds = offset.seconds().unsigned_abs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match seconds {
        0 => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

/// The seconds of an offset that [`written`] wrote.
fn seconds(offset: &str) -> Option<i64> {
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let parts = offset.get(1..)?.split(':').map(|part| part.parse().ok());
    let parts: Vec<i64> = parts.collect::<Option<_>>()?;
    let units = [3600, 60, 1];
    Some(
        sign * parts
            .iter()
            .zip(units)
            .map(|(part, unit)| part * unit)
            .sum::<i64>(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offset of a zone at a moment, by its rows.
    fn offset_at(name: &str, moment: &str) -> String {
        let offsets = offsets(name).unwrap();
        let after = offsets.partition_point(|(begins_at, _)| begins_at.as_str() <= moment);
        offsets[after - 1].1.clone()
    }

    #[test]
    fn an_offset_holds_from_its_change_on() {
        for (zone, moment, offset) in [
            ("America/New_York", "2026-03-08T06:59:59.999Z", "-05:00"),
            ("America/New_York", "2026-03-08T07:00:00.000Z", "-04:00"),
            ("America/New_York", "2026-11-01T05:59:59.999Z", "-04:00"),
            ("America/New_York", "2026-11-01T06:00:00.000Z", "-05:00"),
            // Half an hour of daylight saving time.
            ("Australia/Lord_Howe", "2026-04-04T14:59:59.999Z", "+11:00"),
            ("Australia/Lord_Howe", "2026-04-04T15:00:00.000Z", "+10:30"),
            // Before the first change, in local mean time, and by today's rules.
            ("Europe/Berlin", "0001-01-01T00:00:00.000Z", "+00:53:28"),
            ("Europe/Berlin", "2100-07-01T00:00:00.000Z", "+02:00"),
            ("Europe/Berlin", "2100-12-31T23:59:59.999Z", "+01:00"),
            ("Asia/Kolkata", "2026-07-01T00:00:00.000Z", "+05:30"),
            ("Asia/Kolkata", "9999-01-01T00:00:00.000Z", "+05:30"),
            ("UTC", "2026-07-01T00:00:00.000Z", "+00:00"),
        ] {
            assert_eq!(offset_at(zone, moment), offset, "{zone} {moment}");
        }
        assert_eq!(offsets("UTC").unwrap().len(), 1);
    }

    #[test]
    fn offsets_ascend_and_change_in_every_zone() {
        for name in TimeZoneDatabase::bundled().available() {
            let offsets = offsets(name.as_str()).unwrap();
            let ascend =
                |pair: &[(String, String)]| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1;
            assert!(offsets.windows(2).all(ascend), "{name:?}");
            assert!(offsets.iter().all(|(begins_at, offset)| {
                timestamp::to_milliseconds(begins_at).is_some() && seconds(offset).is_some()
            }));
        }
    }

    #[test]
    fn names_are_those_of_the_tz_database() {
        assert_eq!(canonical("europe/berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(canonical("utc").as_deref(), Some("UTC"));
        assert_eq!(canonical("Berlin"), None);
        assert_eq!(similar("new york"), ["America/New_York"]);
    }
}
