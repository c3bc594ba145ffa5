//! Reads the rows of a data set as typed cells, as a profile shows them.

use super::data_set::{Column, DataSet, Kind};
use super::profile::{Filter, Profile};
use crate::error::{Error, Result};
use crate::timestamp;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row};
use std::borrow::Cow;
use std::cmp::Ordering;
use time::{Date, Month};

#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    Null,
    Integer(i64),
    Double(f64),
    Boolean(bool),
    /// Microseconds since 1970.
    Timestamp(i64),
    /// Days since 1970.
    Date(i32),
    Text(Cow<'a, str>),
}

impl Cell<'_> {
    /// What SQLite has for it.
    pub fn value(&self) -> Value {
        match self {
            Cell::Null => Value::Null,
            Cell::Integer(number) => Value::Integer(*number),
            Cell::Double(number) => Value::Real(*number),
            Cell::Boolean(is_true) => Value::Integer(i64::from(*is_true)),
            Cell::Timestamp(microseconds) => {
                let time = timestamp::from_milliseconds(microseconds / 1000);
                Value::Text(time.expect("the timestamp was one"))
            }
            Cell::Date(days) => Value::Text(day_text(*days)),
            Cell::Text(text) => Value::Text(text.to_string()),
        }
    }
}

/// The day from which [`Cell::Date`] counts.
pub const UNIX_EPOCH: Date = time::macros::date!(1970 - 01 - 01);

/// Where a row belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    pub machine: String,
    /// Of a fact: `2026-10`, or `0000-00` without a time.
    pub month: Option<String>,
}

/// Calls a function with each row, in the order of machine, time and key.
pub fn each(
    connection: &Connection,
    set: &DataSet,
    profile: &Profile,
    mut take: impl FnMut(&Partition, &[Cell<'_>]) -> Result<()>,
) -> Result<()> {
    let columns = set.columns(profile);
    let mut statement = connection.prepare(&set.statement(profile))?;
    let place = |name: &str| columns.iter().position(|column| column.name == name);
    let time = set.time.and_then(place);
    let order: Vec<usize> = ["machine"]
        .into_iter()
        .chain(set.time)
        .chain(set.key.iter().copied())
        .filter_map(place)
        .collect();
    let mut order = Order::new(order);
    let mut filter = profile.filter();
    let mut partition: Option<Partition> = None;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // Equal rows give equal files only in one order, and a key that is not unique would be lost in other engines.
        if !order.advance(row) {
            return Err(Error::CheckFailed(format!(
                "the rows of {} are not in order or not unique; please report this",
                set.name
            )));
        }
        let machine = cell(set, &columns[0], row.get_ref_unwrap(0), &mut filter)?;
        let Cell::Text(machine) = machine else {
            return Err(unexpected(set, &columns[0], "NULL"));
        };
        filter.count_for(&machine);
        let mut cells = Vec::with_capacity(columns.len());
        cells.push(Cell::Text(machine.clone()));
        for (place, column) in columns.iter().enumerate().skip(1) {
            cells.push(cell(set, column, row.get_ref_unwrap(place), &mut filter)?);
        }
        let month = match time.map(|place| row.get_ref_unwrap(place)) {
            None => None,
            Some(ValueRef::Text(time)) if time.len() >= MONTH.len() => Some(&time[..MONTH.len()]),
            Some(_) => Some(MONTH.as_bytes()),
        };
        let is_same = partition.as_ref().is_some_and(|partition| {
            partition.machine == machine && partition.month.as_deref().map(str::as_bytes) == month
        });
        if !is_same {
            let month = month.map(|month| String::from_utf8_lossy(month).into_owned());
            partition = Some(Partition {
                machine: machine.to_string(),
                month,
            });
        }
        take(partition.as_ref().expect("it was just set"), &cells)?;
    }
    filter.finish();
    Ok(())
}

/// The partition of rows without a time. Some engines do not read Hive's name for it.
const MONTH: &str = "0000-00";

/// Whether rows come in an order without repetitions.
struct Order {
    /// The columns to sort by.
    places: Vec<usize>,
    /// Their values in the last row; none before the first row.
    last: Vec<Value>,
}

impl Order {
    fn new(places: Vec<usize>) -> Order {
        let last = Vec::with_capacity(places.len());
        Order { places, last }
    }

    /// Takes the next row, and returns whether it follows the last one.
    fn advance(&mut self, row: &Row<'_>) -> bool {
        let values = self.places.iter().map(|place| row.get_ref_unwrap(*place));
        if self.last.is_empty() {
            self.last.extend(values.map(owned));
            return true;
        }
        let mut order = Ordering::Equal;
        for (value, last) in values.zip(&mut self.last) {
            order = order.then_with(|| compare(&value, last));
            match (last, value) {
                // Most values are strings: their memory is used again.
                (Value::Text(last), ValueRef::Text(text)) => {
                    last.clear();
                    last.push_str(&String::from_utf8_lossy(text));
                }
                (last, value) => *last = owned(value),
            }
        }
        order.is_gt()
    }
}

/// A string that is not UTF-8 is refused when it becomes a cell.
fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Null => Value::Null,
    }
}

/// SQLite's order of keys: NULL, numbers, text.
fn compare(value: &ValueRef<'_>, last: &Value) -> Ordering {
    match (value, last) {
        (ValueRef::Integer(value), Value::Integer(last)) => value.cmp(last),
        (ValueRef::Text(value), Value::Text(last)) => (*value).cmp(last.as_bytes()),
        (value, last) => rank(value).cmp(&rank(&ValueRef::from(last))),
    }
}

fn rank(value: &ValueRef<'_>) -> u8 {
    match value {
        ValueRef::Null => 0,
        ValueRef::Integer(_) | ValueRef::Real(_) => 1,
        ValueRef::Text(_) => 2,
        ValueRef::Blob(_) => 3,
    }
}

fn cell<'r>(
    set: &DataSet,
    column: &Column,
    value: ValueRef<'r>,
    filter: &mut Filter<'_>,
) -> Result<Cell<'r>> {
    let wrong = |what: &str| unexpected(set, column, what);
    Ok(match (column.kind, value) {
        (_, ValueRef::Null) if column.is_key => return Err(wrong("NULL")),
        (_, ValueRef::Null) => Cell::Null,
        (Kind::Integer, ValueRef::Integer(number)) => Cell::Integer(number),
        (Kind::Boolean, ValueRef::Integer(number)) => Cell::Boolean(number != 0),
        (Kind::Double, ValueRef::Real(number)) => Cell::Double(number),
        (Kind::Double, ValueRef::Integer(number)) => Cell::Double(number as f64),
        (kind, ValueRef::Text(bytes)) => {
            let text = std::str::from_utf8(bytes).map_err(|_| wrong("text that is not UTF-8"))?;
            match kind {
                Kind::Timestamp => match timestamp::to_milliseconds(text) {
                    Some(milliseconds) => Cell::Timestamp(milliseconds * 1000),
                    None => return Err(wrong(text)),
                },
                Kind::Date => Cell::Date(day(text).ok_or_else(|| wrong(text))?),
                Kind::Integer | Kind::Double | Kind::Boolean => return Err(wrong("text")),
                kind => Cell::Text(filter.show(kind, text)),
            }
        }
        (_, other) => return Err(wrong(&format!("a value of type {}", other.data_type()))),
    })
}

fn unexpected(set: &DataSet, column: &Column, what: &str) -> Error {
    Error::CheckFailed(format!(
        "{}.{} is {what}, which no row should have; cc-etl check may say more",
        set.name, column.name
    ))
}

/// Days since 1970 of a day as SQLite writes it. The local day of a time in the year 0 may be in the year -1.
fn day(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let mut parts = digits.split('-');
    let year: i32 = parts.next()?.parse().ok()?;
    let month: u8 = parts.next()?.parse().ok()?;
    let day: u8 = parts.next()?.parse().ok()?;
    let date = Date::from_calendar_date(sign * year, Month::try_from(month).ok()?, day).ok()?;
    Some(date.to_julian_day() - UNIX_EPOCH.to_julian_day())
}

/// The opposite of [`day`].
fn day_text(days: i32) -> String {
    let date = Date::from_julian_day(UNIX_EPOCH.to_julian_day() + days);
    let date = date.expect("the day was one");
    let sign = if date.year() < 0 { "-" } else { "" };
    let (year, month, day) = (date.year().abs(), u8::from(date.month()), date.day());
    format!("{sign}{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_count_from_1970() {
        assert_eq!(day("1970-01-01"), Some(0));
        assert_eq!(day("2026-10-28"), Some(20754));
        assert_eq!(day("1969-12-31"), Some(-1));
        assert_eq!(day("0000-01-01"), day("-0001-12-31").map(|day| day + 1));
        assert_eq!(day("2026-13-01"), None);
        assert_eq!(day(""), None);
        for text in ["2026-10-28", "0000-01-01", "-0001-12-31"] {
            assert_eq!(day(text).map(day_text).as_deref(), Some(text));
        }
    }
}
