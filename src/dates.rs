//! Parses the days and periods that options and parameters accept: `2026-11-03`, `yesterday`, `7d`, `last month`.

use crate::error::Error;
use crate::time_zone::TimeZone;
use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::{Span, ToSpan};

/// What can be written.
pub const FORMS: &str =
    "2026-11-03, today, yesterday, 7d, 2w, 2026-W46, 2026-11, 2026, this week, last month";

/// [`first_day`] or [`last_day`].
pub type Parse = fn(&str, Date) -> Result<String, String>;

/// The first day of a period that a text names, as `YYYY-MM-DD`: of `2026-11` the first of November. `7d` are the last seven
/// days, today included.
pub fn first_day(text: &str, today: Date) -> Result<String, String> {
    day(text, today, |period| period.first)
}

/// The last day of a period: of `2026-11` the last of November. `7d` is seven days ago, the day before the last seven.
pub fn last_day(text: &str, today: Date) -> Result<String, String> {
    day(text, today, |period| period.last)
}

/// The day of an option such as `--since`; none if it was not given.
pub fn of_option(
    option: &str,
    text: Option<&str>,
    parse: Parse,
    zone: &TimeZone,
) -> Result<Option<String>, Error> {
    let day = text.map(|text| parse(text, zone.today())).transpose();
    day.map_err(|problem| Error::Usage(format!("--{option}: {problem}")))
}

fn day(text: &str, today: Date, choose: fn(Period) -> Date) -> Result<String, String> {
    match period(text, today) {
        Some(period) => Ok(choose(period).to_string()),
        None => Err(format!("{text:?} is not a date; give one like {FORMS}")),
    }
}

struct Period {
    /// When it is where something begins.
    first: Date,
    /// When it is where something ends.
    last: Date,
}

fn period(text: &str, today: Date) -> Option<Period> {
    let text = text.trim().to_lowercase().replace(['_', ' '], "-");
    match text.as_str() {
        "today" => return Some(one(today)),
        "yesterday" => return Some(one(today.yesterday().ok()?)),
        _ => {}
    }
    if let Some((which, unit)) = text.split_once('-') {
        let periods_ago = match which {
            "this" => Some(0),
            "last" => Some(1),
            _ => None,
        };
        if let Some(ago) = periods_ago {
            return match unit {
                "week" => week(today.checked_sub((7 * ago).days()).ok()?),
                "month" => month(today.first_of_month().checked_sub(ago.months()).ok()?),
                "year" => year(today.first_of_year().checked_sub(ago.years()).ok()?),
                _ => None,
            };
        }
    }
    if let Some(count) = text.strip_suffix('d') {
        return days_ago(number(count)?, today);
    }
    if let Some(count) = text.strip_suffix('w') {
        return days_ago(number(count)?.checked_mul(7)?, today);
    }
    let parts: Vec<&str> = text.split('-').collect();
    match parts[..] {
        [y] => year(Date::new(digits(y, 4)?, 1, 1).ok()?),
        [y, w] if w.starts_with('w') => {
            let number = i8::try_from(digits(&w[1..], 2)?).ok()?;
            let monday = ISOWeekDate::new(digits(y, 4)?, number, Weekday::Monday);
            week(monday.ok()?.date())
        }
        [y, m] => month(Date::new(digits(y, 4)?, i8::try_from(digits(m, 2)?).ok()?, 1).ok()?),
        [y, m, d] => {
            let (m, d) = (i8::try_from(digits(m, 2)?), i8::try_from(digits(d, 2)?));
            Date::new(digits(y, 4)?, m.ok()?, d.ok()?).ok().map(one)
        }
        _ => None,
    }
}

fn one(day: Date) -> Period {
    Period {
        first: day,
        last: day,
    }
}

/// The week of a day, from Monday.
fn week(day: Date) -> Option<Period> {
    let monday = day
        .checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days())
        .ok()?;
    let last = monday.checked_add(6.days()).ok()?;
    Some(Period {
        first: monday,
        last,
    })
}

fn month(day: Date) -> Option<Period> {
    Some(Period {
        first: day.first_of_month(),
        last: day.last_of_month(),
    })
}

fn year(day: Date) -> Option<Period> {
    Some(Period {
        first: day.first_of_year(),
        last: day.last_of_year(),
    })
}

/// The last days, today included, and the day before them.
fn days_ago(count: i32, today: Date) -> Option<Period> {
    let days = Span::new().try_days(count).ok()?;
    let last = today.checked_sub(days).ok()?;
    let first = last.tomorrow().ok()?;
    (count > 0 && last.year() >= 0).then_some(Period { first, last })
}

/// A count of days or weeks.
fn number(text: &str) -> Option<i32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// A number of exactly this many digits.
fn digits(text: &str, count: usize) -> Option<i16> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_a_first_and_a_last_day() {
        // A Thursday.
        let today = jiff::civil::date(2026, 11, 19);
        for (text, first, last) in [
            ("2026-11-03", "2026-11-03", "2026-11-03"),
            ("today", "2026-11-19", "2026-11-19"),
            ("Yesterday", "2026-11-18", "2026-11-18"),
            ("1d", "2026-11-19", "2026-11-18"),
            ("7d", "2026-11-13", "2026-11-12"),
            ("2w", "2026-11-06", "2026-11-05"),
            ("2026-W46", "2026-11-09", "2026-11-15"),
            ("2026-w01", "2025-12-29", "2026-01-04"),
            ("2026-W53", "2026-12-28", "2027-01-03"),
            ("2026-11", "2026-11-01", "2026-11-30"),
            ("2028-02", "2028-02-01", "2028-02-29"),
            ("2026", "2026-01-01", "2026-12-31"),
            ("this week", "2026-11-16", "2026-11-22"),
            ("last week", "2026-11-09", "2026-11-15"),
            ("this-month", "2026-11-01", "2026-11-30"),
            (" last month ", "2026-10-01", "2026-10-31"),
            ("this_year", "2026-01-01", "2026-12-31"),
            ("last year", "2025-01-01", "2025-12-31"),
        ] {
            assert_eq!(first_day(text, today).as_deref(), Ok(first), "{text}");
            assert_eq!(last_day(text, today).as_deref(), Ok(last), "{text}");
        }
        // The month before one of 31 days.
        let today = jiff::civil::date(2026, 3, 31);
        assert_eq!(last_day("last month", today).unwrap(), "2026-02-28");
    }

    #[test]
    fn anything_else_is_an_error_that_lists_the_forms() {
        let today = jiff::civil::date(2026, 11, 19);
        for text in [
            "",
            "garbage",
            "3",
            "0d",
            "-7d",
            "7",
            "7 days",
            "d",
            "2026-02-29",
            "2026-13",
            "2026-W54",
            "2025-W53",
            "2026-w1",
            "2026-1-1",
            "26-11-03",
            "2026-11-03T10:00",
            "next week",
            "this",
            "last ",
            "99999999999d",
            "2000000w",
            "٣d",
            "2026-11-0é",
            "+7d",
            "2026-W+1",
        ] {
            let error = first_day(text, today).unwrap_err();
            assert!(
                error.contains("2026-W46") && error.contains("last month"),
                "{text}: {error}"
            );
        }
    }
}
