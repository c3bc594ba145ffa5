//! Writes the data sets as a script for psql: one transaction that creates what is missing, and replaces the rows of the machines
//! of this database. A driver would bring network code; psql has passwords, TLS and services.

use super::data_set::{self, Column, DataSet, Kind, MACHINES};
use super::folder::VERSION;
use super::output::Output;
use super::profile::Profile;
use super::rows::{self, Cell, UNIX_EPOCH};
use crate::error::Result;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fmt::Write;
use time::{Date, OffsetDateTime};

const BEGIN: &str = include_str!("../../sql/postgres/begin.sql");
const EXPORTS: &str = include_str!("../../sql/postgres/exports.sql");

/// Advisory locks: "ccet" and the next number.
const TABLES_LOCK: i32 = 0x6363_6574;
const MACHINES_LOCK: i32 = TABLES_LOCK + 1;

/// Writes the script, and returns the number of rows.
pub fn write(connection: &Connection, profile: &Profile, out: &mut Output) -> Result<u64> {
    let transaction = connection.unchecked_transaction()?;
    let mut sets = data_set::all();
    sets.sort_by_key(|set| (set.name != MACHINES, set.name));
    let machines = machines(&transaction, &sets[0], profile)?;
    out.write(&begin(&sets, &machines, profile))?;
    for set in &sets {
        out.write(&create(set, profile))?;
    }
    if !machines.is_empty() {
        out.write(&exports(&machines, profile))?;
    }
    let mut row_count = 0;
    for set in &sets {
        row_count += copy(&transaction, set, profile, out)?;
    }
    if !machines.is_empty() {
        out.write(&export_rows(&machines, profile))?;
    }
    out.write("\ncommit;\n")?;
    Ok(row_count)
}

fn machines(connection: &Connection, set: &DataSet, profile: &Profile) -> Result<Vec<String>> {
    let mut machines = Vec::new();
    rows::each(connection, set, profile, |partition, _| {
        machines.push(partition.machine.clone());
        Ok(())
    })?;
    Ok(machines)
}

fn begin(sets: &[DataSet], machines: &[String], profile: &Profile) -> String {
    let column = |set: &DataSet, column: &Column| {
        let type_of = type_of(column.kind);
        format!("['{}', '{}', '{type_of}']", set.name, column.name)
    };
    let mut columns: Vec<String> = sets
        .iter()
        .flat_map(|set| {
            let columns = set.columns(profile);
            columns.into_iter().map(move |shown| column(set, &shown))
        })
        .collect();
    columns.push("['cc_etl_exports', 'machine', 'text']".to_string());
    // In the order of their keys: two loads of several machines would wait for each other in another one.
    let keys: BTreeSet<i32> = machines.iter().map(|machine| lock_key(machine)).collect();
    let locks: Vec<String> = keys
        .iter()
        .map(|key| format!("perform pg_advisory_xact_lock(machines_lock, {key});"))
        .collect();
    BEGIN
        .replace("{tables_lock}", &TABLES_LOCK.to_string())
        .replace("{machines_lock}", &MACHINES_LOCK.to_string())
        .replace("{columns}", &columns.join(",\n        "))
        .replace("{lock_machines}", &locks.join("\n    "))
}

/// Machines with the same key only wait for each other.
fn lock_key(machine: &str) -> i32 {
    let hash = blake3::hash(machine.as_bytes());
    i32::from_le_bytes(*hash.as_bytes().first_chunk().expect("a hash has 32 bytes"))
}

fn create(set: &DataSet, profile: &Profile) -> String {
    let mut sql = format!("\ncreate table if not exists {} (\n", set.name);
    writeln!(sql, "    -- {}", set.grain).expect("writing to a string cannot fail");
    for column in set.columns(profile) {
        let not_null = if column.is_key { " not null" } else { "" };
        let refers = match set.refers_to_machine(&column) {
            true => format!(" references {MACHINES} on delete cascade"),
            false => String::new(),
        };
        let type_of = type_of(column.kind);
        writeln!(sql, "    {} {type_of}{not_null}{refers},", column.name)
            .expect("writing to a string cannot fail");
    }
    sql + &format!(
        "    primary key ({})\n);\n",
        set.unique_columns().join(", ")
    )
}

fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "bigint",
        Kind::Double => "double precision",
        Kind::Boolean => "boolean",
        Kind::Timestamp => "timestamptz",
        Kind::Date => "date",
        Kind::Id | Kind::Word | Kind::Name | Kind::Path | Kind::Content => "text",
    }
}

/// Refuses rows of another profile, and deletes those of the machines.
fn exports(machines: &[String], profile: &Profile) -> String {
    let machines: Vec<String> = machines.iter().map(|machine| literal(machine)).collect();
    EXPORTS
        .replace("{profile}", &profile_values(profile))
        .replace("{machines}", &machines.join(", "))
}

fn export_rows(machines: &[String], profile: &Profile) -> String {
    let row = |machine: &String| {
        let (values, masked) = (profile_values(profile), profile.masked_json(machine));
        format!(
            "    ({}, {VERSION}, {values}, {})",
            literal(machine),
            literal(&masked)
        )
    };
    let rows: Vec<String> = machines.iter().map(row).collect();
    format!(
        "\ninsert into cc_etl_exports (machine, version, profile, key_id, has_names, masked) values\n{};\n",
        rows.join(",\n")
    )
}

fn profile_values(profile: &Profile) -> String {
    format!(
        "{}, {}, {}",
        literal(profile.detail.name()),
        profile
            .key_id()
            .map_or("null".to_string(), |id| literal(&id)),
        profile.has_names
    )
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', "''"))
}

fn copy(
    connection: &Connection,
    set: &DataSet,
    profile: &Profile,
    out: &mut Output,
) -> Result<u64> {
    let columns = set.columns(profile);
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    out.write(&format!(
        "\ncopy {} ({}) from stdin;\n",
        set.name,
        names.join(", ")
    ))?;
    let mut row_count = 0;
    let mut line = String::new();
    rows::each(connection, set, profile, |_, cells| {
        line.clear();
        for (cell, column) in cells.iter().zip(&columns) {
            if !line.is_empty() {
                line.push('\t');
            }
            push(&mut line, cell, column);
        }
        line.push('\n');
        row_count += 1;
        out.write(&line)
    })?;
    out.write("\\.\n")?;
    Ok(row_count)
}

/// A cell in the text format of COPY. The first cell of a row, its machine, is never empty.
fn push(line: &mut String, cell: &Cell<'_>, column: &Column) {
    match cell {
        Cell::Null => line.push_str("\\N"),
        Cell::Integer(number) => line.push_str(&number.to_string()),
        Cell::Double(number) if number.is_infinite() => {
            line.push_str(if *number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            });
        }
        Cell::Double(number) => line.push_str(&number.to_string()),
        Cell::Boolean(is_true) => line.push(if *is_true { 't' } else { 'f' }),
        Cell::Timestamp(microseconds) => push_timestamp(line, *microseconds),
        Cell::Date(days) => {
            let date = Date::from_julian_day(UNIX_EPOCH.to_julian_day() + days);
            push_date(line, date.expect("the day was one"));
            push_era(line, date.expect("the day was one"));
        }
        Cell::Text(text) if column.is_key => push_text(line, &indexable(text)),
        Cell::Text(text) => push_text(line, text),
    }
}

fn push_timestamp(line: &mut String, microseconds: i64) {
    let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(microseconds) * 1000)
        .expect("the timestamp was one");
    push_date(line, moment.date());
    let (hour, minute, second) = moment.to_hms();
    let fraction = moment.microsecond();
    write!(line, " {hour:02}:{minute:02}:{second:02}.{fraction:06}+00")
        .expect("writing to a string cannot fail");
    push_era(line, moment.date());
}

/// PostgreSQL has no year 0: the year before 1 is 1 BC.
fn push_date(line: &mut String, date: Date) {
    let year = match date.year() {
        year @ 1.. => year,
        year => 1 - year,
    };
    let (month, day) = (u8::from(date.month()), date.day());
    write!(line, "{year:04}-{month:02}-{day:02}").expect("writing to a string cannot fail");
}

fn push_era(line: &mut String, date: Date) {
    if date.year() < 1 {
        line.push_str(" BC");
    }
}

/// PostgreSQL has no NUL in text. Other control characters are escaped, so that the script can be looked at.
fn push_text(line: &mut String, text: &str) {
    let mut rest = text;
    while let Some(place) = rest.find(|c: char| c.is_ascii_control() || c == '\\') {
        line.push_str(&rest[..place]);
        match rest.as_bytes()[place] {
            0 => {}
            b'\\' => line.push_str("\\\\"),
            b'\n' => line.push_str("\\n"),
            b'\t' => line.push_str("\\t"),
            b'\r' => line.push_str("\\r"),
            other => {
                write!(line, "\\x{other:02x}").expect("writing to a string cannot fail");
            }
        }
        rest = &rest[place + 1..];
    }
    line.push_str(rest);
}

/// A B-tree of PostgreSQL takes keys of up to 2,704 bytes. A longer one, which no program writes, ends with its hash.
fn indexable(text: &str) -> String {
    const BYTES: usize = 600;
    if text.len() <= BYTES {
        return text.to_string();
    }
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let room = BYTES - hash.len();
    let is_in_room = |(place, c): &(usize, char)| place + c.len_utf8() <= room;
    let start = text.char_indices().take_while(is_in_room);
    start.map(|(_, c)| c).collect::<String>() + &hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(cell: &Cell<'_>, is_key: bool) -> String {
        let column = Column {
            name: "column",
            kind: Kind::Content,
            is_key,
        };
        let mut line = String::new();
        push(&mut line, cell, &column);
        line
    }

    #[test]
    fn text_is_escaped_and_has_no_nul() {
        let text = |text: &'static str| copied(&Cell::Text(text.into()), false);
        assert_eq!(
            text("a\tb\nc\\.d\re\0f\u{1b}g ü"),
            "a\\tb\\nc\\\\.d\\ref\\x1bg ü"
        );
        assert_eq!(text("\\N"), "\\\\N");
        assert_eq!(text(""), "");
        assert_eq!(copied(&Cell::Null, false), "\\N");
    }

    #[test]
    fn the_year_before_1_is_1_bc() {
        let timestamp = |text: &str| {
            let milliseconds = crate::timestamp::to_milliseconds(text).unwrap();
            copied(&Cell::Timestamp(milliseconds * 1000), false)
        };
        assert_eq!(
            timestamp("2026-10-28T09:15:00.123Z"),
            "2026-10-28 09:15:00.123000+00"
        );
        assert_eq!(
            timestamp("0001-01-01T00:00:00.000Z"),
            "0001-01-01 00:00:00.000000+00"
        );
        assert_eq!(
            timestamp("0000-12-31T23:59:59.999Z"),
            "0001-12-31 23:59:59.999000+00 BC"
        );
        assert_eq!(copied(&Cell::Date(20754), false), "2026-10-28");
        assert_eq!(copied(&Cell::Date(-719_529), false), "0002-12-31 BC");
    }

    #[test]
    fn a_long_key_is_shortened_and_stays_unique() {
        let key = |text: String| copied(&Cell::Text(text.into()), true);
        assert_eq!(key("a".repeat(600)), "a".repeat(600));
        let (one, other) = (key("ü".repeat(500) + "1"), key("ü".repeat(500) + "2"));
        assert!(one != other && one.len() <= 600 && other.len() <= 600);
    }

    #[test]
    fn names_of_machines_are_quoted() {
        assert_eq!(literal("Ann's \\ laptop"), "'Ann''s \\ laptop'");
    }
}
