//! Timestamps. The database has one format, UTC of fixed width: `2026-01-31T09:15:00.000Z`. Strings in it sort by time.

use std::borrow::Cow;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, Month, OffsetDateTime, Time, UtcOffset};

pub fn now() -> String {
    format(OffsetDateTime::now_utc())
}

/// The seconds since a timestamp of our format; 0 for one in the future.
pub fn seconds_since(text: &str) -> Option<u64> {
    let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    let seconds = (OffsetDateTime::now_utc() - moment).whole_seconds();
    Some(seconds.max(0).cast_unsigned())
}

/// Converts a timestamp of a transcript into our format, or returns `None` if it is not one. Nearly all have our format already.
/// A leap second becomes the end of the second before: SQLite has none, and the row would be on no day.
pub fn normalize(text: Cow<'_, str>) -> Option<Cow<'_, str>> {
    if parse_fast(&text).is_some() {
        return Some(text);
    }
    let moment = OffsetDateTime::parse(text.trim(), &Rfc3339).ok()?;
    // The conversion to UTC can leave the years 0 to 9999.
    let moment = moment.checked_to_offset(UtcOffset::UTC)?;
    in_range(moment).then(|| Cow::Owned(format(moment)))
}

/// Formats milliseconds since 1970, which `history.jsonl` uses.
pub fn from_milliseconds(milliseconds: i64) -> Option<String> {
    let moment =
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(milliseconds) * 1_000_000).ok()?;
    in_range(moment).then(|| format(moment))
}

/// The milliseconds since 1970 of a timestamp of our format. Like SQLite, it returns `None` for a leap second.
pub fn to_milliseconds(text: &str) -> Option<i64> {
    if let Some(moment) = parse_fast(text) {
        return Some(moment.unix_timestamp() * 1000 + i64::from(moment.millisecond()));
    }
    let is_leap_second = text.get(17..19) == Some("60");
    if is_leap_second {
        return None;
    }
    let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    i64::try_from(moment.unix_timestamp_nanos() / 1_000_000).ok()
}

/// Parses a timestamp of our format: a fast path, since the parser of the `time` crate supports other formats too.
fn parse_fast(text: &str) -> Option<OffsetDateTime> {
    if !has_our_format(text) {
        return None;
    }
    let digits = text.as_bytes();
    let digit = |place: usize| u16::from(digits[place] - b'0');
    let two = |place| (digit(place) * 10 + digit(place + 1)) as u8;
    let year = i32::from(two(0)) * 100 + i32::from(two(2));
    let month = Month::try_from(two(5)).ok()?;
    let date = Date::from_calendar_date(year, month, two(8)).ok()?;
    let milliseconds = digit(20) * 100 + u16::from(two(21));
    let time = Time::from_hms_milli(two(11), two(14), two(17), milliseconds).ok()?;
    Some(OffsetDateTime::new_utc(date, time))
}

fn format(moment: OffsetDateTime) -> String {
    moment
        .format(format_description!(
            "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z"
        ))
        .expect("a date with a four-digit year can be written")
}

/// Years outside 0..=9999 would break the fixed width.
fn in_range(moment: OffsetDateTime) -> bool {
    (0..=9999).contains(&moment.year())
}

fn has_our_format(text: &str) -> bool {
    let pattern = b"dddd-dd-ddTdd:dd:dd.dddZ";
    text.len() == pattern.len()
        && text
            .bytes()
            .zip(pattern)
            .all(|(byte, expected)| match expected {
                b'd' => byte.is_ascii_digit(),
                other => byte == *other,
            })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_fast_path_agrees_with_the_parser(
            year in 0..=9999, [month, day, hour, minute, second] in [0..=13, 0..=32, 0..=24, 0..=60, 0..=61], milli in 0..=999
        ) {
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z");
            let parsed = OffsetDateTime::parse(&text, &Rfc3339).ok();
            match parse_fast(&text) {
                Some(moment) => assert_eq!(Some(moment), parsed),
                None => assert!(parsed.is_none() || second == 60, "{text}"),
            }
        }
    }

    #[test]
    fn a_timestamp_of_our_format_is_borrowed() {
        let text = "2026-01-31T09:15:00.000Z";
        assert!(matches!(normalize(text.into()), Some(Cow::Borrowed(same)) if same == text));
    }

    #[test]
    fn other_offsets_and_precisions_become_utc_milliseconds() {
        assert_eq!(
            normalize("2026-01-31T10:15:00+01:00".into()).unwrap(),
            "2026-01-31T09:15:00.000Z"
        );
        assert_eq!(
            normalize("2026-01-31T09:15:00.123456Z".into()).unwrap(),
            "2026-01-31T09:15:00.123Z"
        );
        assert_eq!(
            normalize("2016-12-31T23:59:60.000Z".into()).unwrap(),
            "2016-12-31T23:59:59.999Z"
        );
        assert_eq!(
            from_milliseconds(1_776_199_291_703).unwrap(),
            "2026-04-14T20:41:31.703Z"
        );
    }

    #[test]
    fn an_invalid_timestamp_is_none() {
        for text in [
            "",
            "yesterday",
            "2026-13-01T00:00:00.000Z",
            "2026-02-30T00:00:00.000Z",
            "9999-12-31T23:59:59-14:00",
            "9999-12-31T23:59:59.999-00:01",
            "0000-01-01T00:00:00+14:00",
        ] {
            assert_eq!(normalize(text.into()), None, "{text}");
        }
        assert_eq!(from_milliseconds(i64::MAX), None);
    }
}
