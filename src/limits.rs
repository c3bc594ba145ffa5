//! Samples of the limits of the account, which Claude Code tells only its status line.
//!
//! The status line must not wait, and a sync may be writing the database. So [`record`] appends to `<database>.limits`, and
//! [`import`] moves its lines into the table `limit_samples` at the end of each sync, and empties the file after the commit. A sample is
//! identified by its limit, the end of its period and its value: lines may repeat, and an import that is killed is repeated.

use crate::database::{
    self, create_private_folder, folder_of, open_private, statements as sql, with_suffix,
};
use crate::error::{Error, Result};
use crate::timestamp;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The value of a limit at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub limit_name: String,
    pub used_percentage: f64,
    pub resets_at: String,
    pub sampled_at: String,
}

impl Sample {
    fn is_same(&self, other: &Sample) -> bool {
        let key = |sample: &Sample| (sample.limit_name.clone(), sample.resets_at.clone());
        key(self) == key(other) && self.used_percentage.to_bits() == other.used_percentage.to_bits()
    }
}

/// The samples in the field `rate_limits` of the status line's input.
pub fn samples(input: &Json) -> Vec<Sample> {
    let sampled_at = timestamp::now();
    let limits = input["rate_limits"].as_object().into_iter().flatten();
    let sample = |(name, limit): (&String, &Json)| {
        let used_percentage = limit["used_percentage"].as_f64()?;
        (0.0..=10_000.0).contains(&used_percentage).then_some(())?;
        Some(Sample {
            limit_name: name.clone(),
            used_percentage: used_percentage.abs(), // no -0.0
            resets_at: reset_time(&limit["resets_at"])?,
            sampled_at: sampled_at.clone(),
        })
    };
    limits.filter_map(sample).collect()
}

/// A time in seconds since 1970, or as text. It is rounded to minutes: the text varies by fractions of a second.
fn reset_time(value: &Json) -> Option<String> {
    const MINUTE: f64 = 60_000.0;
    let milliseconds = match value {
        Json::String(text) => {
            let text = timestamp::normalize(text.as_str().into())?;
            timestamp::to_milliseconds(&text)? as f64
        }
        Json::Number(seconds) => seconds.as_f64()? * 1000.0,
        _ => return None,
    };
    timestamp::from_milliseconds(((milliseconds / MINUTE).round() * MINUTE) as i64)
}

/// Records samples that are not recorded yet. Without a connection those of the database are unknown, and may be repeated.
pub fn record(database: &Path, connection: Option<&Connection>, samples: &[Sample]) -> Result<()> {
    let mut new = Vec::new();
    for sample in samples {
        let is_known = connection.is_some_and(|connection| is_imported(connection, sample));
        new.extend((!is_known).then_some(sample));
    }
    if new.is_empty() {
        return Ok(());
    }
    let path = spool(database);
    append(&path, &new).map_err(Error::io(&path))
}

fn is_imported(connection: &Connection, sample: &Sample) -> bool {
    let key = params![sample.limit_name, sample.used_percentage, sample.resets_at];
    let found = connection.query_row(sql::HAS_LIMIT_SAMPLE, key, |row| row.get(0));
    found.unwrap_or(false)
}

fn spool(database: &Path) -> PathBuf {
    with_suffix(database, ".limits")
}

/// What is at the end of the file is not repeated: more than all limits of some sessions.
const TAIL_BYTES: u64 = 8 << 10;

fn append(path: &Path, samples: &[&Sample]) -> io::Result<()> {
    create_private_folder(folder_of(path))?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    let mut file = open_private(path, &mut options)?;
    // Nobody holds it for longer than a moment. The next status line has the same samples.
    if !try_lock(&file, Duration::from_millis(5)) {
        return Ok(());
    }
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(end.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let known: Vec<Sample> = parse(&tail).filter_map(std::result::Result::ok).collect();
    let mut lines = String::new();
    if tail.last().is_some_and(|last| *last != b'\n') {
        lines.push('\n');
    }
    let is_new = |sample: &&&Sample| !known.iter().any(|known| known.is_same(sample));
    for sample in samples.iter().filter(is_new) {
        lines += &serde_json::to_string(sample)?;
        lines.push('\n');
    }
    file.write_all(lines.as_bytes())
}

fn try_lock(file: &File, patience: Duration) -> bool {
    const PAUSE: Duration = Duration::from_millis(1);
    let mut left = patience;
    while file.try_lock().is_err() {
        if left.is_zero() {
            return false;
        }
        std::thread::sleep(PAUSE);
        left = left.saturating_sub(PAUSE);
    }
    true
}

fn parse(lines: &[u8]) -> impl Iterator<Item = serde_json::Result<Sample>> {
    let lines = lines.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(serde_json::from_slice)
}

/// Imports recorded samples. The caller holds the lock of the database. Returns the number of damaged lines.
pub fn import(database: &Path) -> Result<i64> {
    let path = spool(database);
    let io = || Error::io(&path);
    let mut content = Vec::new();
    match File::open(&path) {
        Ok(mut file) => file.read_to_end(&mut content).map_err(io())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(Error::Io(path, error)),
    };
    if content.is_empty() {
        return Ok(0);
    }
    let (samples, damaged): (Vec<_>, Vec<_>) = parse(&content).partition(|sample| sample.is_ok());
    insert(database, samples.into_iter().flatten())?;
    let file = OpenOptions::new().write(true).open(&path).map_err(io())?;
    file.lock().map_err(io())?;
    // Lines that were added since are imported by the next sync, with those imported now.
    if file.metadata().map_err(io())?.len() == content.len() as u64 {
        file.set_len(0).map_err(io())?;
    }
    Ok(damaged.len() as i64)
}

/// Imports the samples of another database. The caller holds the lock of this one.
pub fn merge(database: &Path, other: &Connection) -> Result<()> {
    let mut statement = other.prepare(sql::LIST_LIMIT_SAMPLES)?;
    let samples = statement.query_map([], |row| {
        Ok(Sample {
            limit_name: row.get(0)?,
            used_percentage: row.get(1)?,
            resets_at: row.get(2)?,
            sampled_at: row.get(3)?,
        })
    })?;
    let samples: Vec<Sample> = samples.collect::<rusqlite::Result<_>>()?;
    match samples.is_empty() {
        true => Ok(()),
        false => insert(database, samples.into_iter()),
    }
}

fn insert(database: &Path, samples: impl Iterator<Item = Sample>) -> Result<()> {
    let connection = database::open(database)?;
    let transaction = connection.unchecked_transaction()?;
    {
        let mut insert = transaction.prepare(sql::IMPORT_LIMIT_SAMPLE)?;
        for sample in samples {
            insert.execute(params![
                sample.limit_name,
                sample.used_percentage,
                sample.resets_at,
                sample.sampled_at
            ])?;
        }
    }
    transaction.commit()?;
    // Closing checkpoints; a failure leaves the log, with all data.
    database::close(connection, database);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_limit_is_read_with_its_end_in_seconds_or_as_text() {
        let input = json!({"rate_limits": {
            "five_hour": {"used_percentage": 23.5, "resets_at": 1_738_425_600},
            "seven_day": {"used_percentage": 41, "resets_at": "2025-02-01T15:59:59.943648+00:00"},
            "seven_day_opus": {"used_percentage": 0, "resets_at": "2025-02-01T17:00:00.2+01:00"},
            "unknown_end": {"used_percentage": 1, "resets_at": null},
            "no_number": {"used_percentage": "7", "resets_at": 1_738_425_600},
            "negative": {"used_percentage": -1, "resets_at": 1_738_425_600},
            "too_late": {"used_percentage": 1, "resets_at": 1e300},
            "nothing": null,
        }});
        let samples = samples(&input);
        let samples = samples.iter().map(|sample| {
            (
                sample.limit_name.as_str(),
                sample.used_percentage,
                sample.resets_at.as_str(),
            )
        });
        let end = "2025-02-01T16:00:00.000Z";
        assert_eq!(
            samples.collect::<Vec<_>>(),
            [
                ("five_hour", 23.5, end),
                ("seven_day", 41.0, end),
                ("seven_day_opus", 0.0, end)
            ]
        );
        for input in [json!(null), json!([]), json!({"rate_limits": 5})] {
            assert_eq!(super::samples(&input), []);
        }
    }

    #[test]
    fn a_sample_is_written_once_and_a_torn_line_does_not_damage_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/test.db.limits");
        let sample = |percentage: f64| Sample {
            limit_name: "five_hour".to_string(),
            used_percentage: percentage,
            resets_at: "2025-02-01T16:00:00.000Z".to_string(),
            sampled_at: timestamp::now(),
        };
        append(&path, &[&sample(1.0), &sample(2.0)]).unwrap();
        // Sessions that wait show earlier values.
        append(&path, &[&sample(1.0)]).unwrap();
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "{\"limit").unwrap();
        append(&path, &[&sample(3.0), &sample(2.0)]).unwrap();
        let lines = std::fs::read(&path).unwrap();
        let (read, torn): (Vec<_>, Vec<_>) = parse(&lines).partition(serde_json::Result::is_ok);
        let values: Vec<f64> = read
            .into_iter()
            .map(|sample| sample.unwrap().used_percentage)
            .collect();
        assert_eq!((values, torn.len()), (vec![1.0, 2.0, 3.0], 1));
    }
}
