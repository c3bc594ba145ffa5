//! What a column is for a reader. Its name decides, by the naming rules of the schema (`_usd`, `_at`, `_ms`, ...), and its
//! values confirm it. Tables of every command format and lay out columns by this alone.

use crate::terminal::{byte_size, duration, grouped, money, sanitize};
use crate::time_zone::TimeZone;
use rusqlite::types::Value;
use unicode_width::UnicodeWidthStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A timestamp of the database.
    Time,
    /// A day, a week or a month.
    Date,
    /// 0 is Sunday, as in SQLite.
    Weekday,
    /// US dollars.
    Money,
    /// US dollars that are multiplied later: all digits count.
    Price,
    /// A number of things.
    Count,
    /// A number of tokens: a narrow table abbreviates them.
    Tokens,
    /// A number that is not a quantity: a status code, a position.
    Number,
    /// Any other number, with this many decimals.
    Decimal(usize),
    /// A part of 1.
    Share,
    /// In units of this many milliseconds.
    Duration(u32),
    /// In bytes.
    Size,
    /// 0 or 1.
    Flag,
    /// A session id; commands accept its first characters.
    Session,
    /// Any other key, which can only be copied in full.
    Id,
    /// A single word, such as the name of a model or a tool.
    Name,
    /// Names of models, separated by commas: shown without what they have in common.
    Models,
    /// A git branch, of which the beginning is shown.
    Branch,
    /// A line drawn with blocks, of which the end is the latest.
    Trend,
    /// A file name, whose end tells more than its beginning.
    Path,
    /// Free text.
    Text,
    /// A bar that pictures the column before it.
    Bar,
    /// How long ago the time before it was.
    Age,
}

/// By the whole name.
const NAMES: &[(&str, Kind)] = &[
    ("weekday", Kind::Weekday),
    ("day", Kind::Date),
    ("week", Kind::Date),
    ("month", Kind::Date),
    ("uuid", Kind::Id),
    ("session_id", Kind::Session),
    ("model", Kind::Name),
    ("models", Kind::Models),
    ("git_branch", Kind::Branch),
    ("path", Kind::Path),
    ("hour", Kind::Number),
    ("year", Kind::Number),
    ("generation", Kind::Number),
    ("valid_from", Kind::Date),
];

/// By the end of the name.
const ENDS: &[(&str, Kind)] = &[
    ("_usd", Kind::Money),
    ("_at", Kind::Time),
    ("_date", Kind::Date),
    ("_count", Kind::Count),
    ("_tokens", Kind::Tokens),
    ("_trend", Kind::Trend),
    ("_session_id", Kind::Session),
    ("_id", Kind::Id),
    ("_key", Kind::Id),
    ("_uuid", Kind::Id),
    ("_hash", Kind::Id),
    ("_sha", Kind::Id),
    ("_ms", Kind::Duration(1)),
    ("_s", Kind::Duration(1000)),
    ("_seconds", Kind::Duration(1000)),
    ("_minutes", Kind::Duration(60_000)),
    ("_bytes", Kind::Size),
    ("_rate", Kind::Share),
    ("_share", Kind::Share),
    ("_path", Kind::Path),
    ("_number", Kind::Number),
    ("_code", Kind::Number),
    ("_year", Kind::Number),
    ("_unix", Kind::Number),
];

/// A longer word is free text: a table has to be able to shrink it.
const NAME_WIDTH: usize = 40;
/// Wider than any id of a transcript.
const ID_WIDTH: usize = 64;
/// The first block of a UUID. `show` and the parameters of questions accept it for the whole.
pub const SESSION_WIDTH: usize = 8;

impl Kind {
    /// The kind of a column, by its name; values that do not look like it make it what they look like.
    pub fn of<'v>(name: &str, values: impl Iterator<Item = &'v Value> + Clone) -> Kind {
        let mut values = values.filter(|value| **value != Value::Null);
        match Kind::by_name(name) {
            Some(kind) if values.clone().all(|value| kind.fits(value)) => kind,
            _ => Kind::by_values(&mut values),
        }
    }

    fn by_name(name: &str) -> Option<Kind> {
        let is_flag = name.starts_with("is_") || name.starts_with("has_");
        let whole = NAMES.iter().find(|(known, _)| *known == name);
        let end = || ENDS.iter().find(|(end, _)| name.ends_with(end));
        match is_flag {
            true => Some(Kind::Flag),
            false => whole.or_else(end).map(|(_, kind)| *kind),
        }
    }

    fn by_values<'v>(values: &mut (impl Iterator<Item = &'v Value> + Clone)) -> Kind {
        let is_number = |value: &Value| matches!(value, Value::Integer(_) | Value::Real(_));
        if values.clone().next().is_some() && values.clone().all(is_number) {
            return match values.clone().map(decimals).max() {
                Some(count) if values.any(|value| matches!(value, Value::Real(_))) => {
                    Kind::Decimal(count)
                }
                _ => Kind::Count,
            };
        }
        match values.all(|value| Kind::Name.fits(value)) {
            true => Kind::Name,
            false => Kind::Text,
        }
    }

    fn fits(self, value: &Value) -> bool {
        let is_word =
            |text: &str, width| text.width() <= width && !text.contains(char::is_whitespace);
        match (self, value) {
            (Kind::Time, Value::Text(text)) => {
                text.len() <= "2026-01-31T09:15:00.000Z".len()
                    && text.starts_with(|first: char| first.is_ascii_digit())
            }
            (Kind::Date, Value::Text(text)) => is_word(text, "2026-01-31".len()),
            (Kind::Weekday, Value::Integer(day)) => (0..7).contains(day),
            (Kind::Flag, Value::Integer(flag)) => (0..2).contains(flag),
            (Kind::Id | Kind::Session, Value::Text(text)) => is_word(text, ID_WIDTH),
            (Kind::Id | Kind::Count | Kind::Tokens | Kind::Number, Value::Integer(_)) => true,
            (Kind::Number | Kind::Name | Kind::Trend, Value::Text(text)) => {
                is_word(text, NAME_WIDTH)
            }
            (Kind::Path | Kind::Text | Kind::Models | Kind::Branch, Value::Text(_)) => true,
            (
                Kind::Money | Kind::Price | Kind::Share | Kind::Duration(_) | Kind::Size,
                Value::Integer(_) | Value::Real(_),
            ) => true,
            _ => false,
        }
    }

    /// Like [`Kind::cell`], with times in a zone.
    pub fn local_cell(self, value: &Value, zone: Option<&TimeZone>) -> String {
        match (self, value, zone) {
            (Kind::Time, Value::Text(text), Some(zone)) => match zone.local(text) {
                Some(local) => local[..16].to_string(),
                None => self.cell(value),
            },
            _ => self.cell(value),
        }
    }

    /// Formats a value for people, on one line.
    pub fn cell(self, value: &Value) -> String {
        match (self, value) {
            (_, Value::Null) => String::new(),
            (Kind::Time, Value::Text(text)) => time(text),
            (Kind::Weekday, Value::Integer(day)) => weekday(*day).to_string(),
            (Kind::Flag, Value::Integer(flag)) => ["no", "yes"][usize::from(*flag != 0)].into(),
            (Kind::Id | Kind::Number, Value::Integer(number)) => number.to_string(),
            (Kind::Models, Value::Text(text)) => models(&one_line(text)),
            (_, Value::Text(text)) => one_line(text),
            (_, Value::Blob(bytes)) => format!("{} bytes", grouped(bytes.len() as i64)),
            (_, Value::Integer(number)) => self.number(*number as f64, || grouped(*number)),
            (_, Value::Real(number)) => self.number(*number, || decimal(*number, 3)),
        }
    }

    fn number(self, number: f64, other: impl FnOnce() -> String) -> String {
        match self {
            Kind::Money => money(number),
            Kind::Price => number.to_string(),
            Kind::Share => format!("{:.1}%", number * 100.0),
            Kind::Duration(unit) => duration(number * f64::from(unit)),
            Kind::Size if number >= 0.0 => byte_size(number as u64),
            Kind::Decimal(decimals) => decimal(number, decimals),
            _ => other(),
        }
    }

    /// Whether cells are right-aligned.
    pub fn is_number(self) -> bool {
        matches!(
            self,
            Kind::Money
                | Kind::Price
                | Kind::Count
                | Kind::Tokens
                | Kind::Number
                | Kind::Decimal(_)
                | Kind::Share
                | Kind::Duration(_)
                | Kind::Size
        )
    }

    /// The end of a name that says what the cells say too: a table leaves it out.
    pub fn unit(self, name: &str) -> &'static str {
        let ends = match self {
            Kind::Duration(_) => &["_ms", "_s", "_seconds", "_minutes"][..],
            Kind::Size => &["_bytes"][..],
            _ => &[],
        };
        let end = ends
            .iter()
            .find(|end| name.len() > end.len() && name.ends_with(*end));
        end.copied().unwrap_or_default()
    }

    /// How much a reader would miss the column for its width: a table that is too narrow drops those of least weight.
    pub fn weight(self, width: usize) -> u32 {
        match self {
            Kind::Name if width > 16 => 5,
            // Without its id a session cannot be opened.
            Kind::Time | Kind::Date | Kind::Weekday | Kind::Session => 9,
            Kind::Name | Kind::Path | Kind::Text | Kind::Money => 8,
            Kind::Price => 6,
            Kind::Share | Kind::Duration(_) | Kind::Trend => 5,
            Kind::Models | Kind::Branch | Kind::Age | Kind::Bar | Kind::Decimal(_) => 4,
            Kind::Size | Kind::Number | Kind::Flag => 3,
            Kind::Count | Kind::Tokens => 2,
            Kind::Id => 1,
        }
    }
}

/// A timestamp to the minute.
fn time(timestamp: &str) -> String {
    match (timestamp.get(..10), timestamp.get(11..16)) {
        (Some(day), Some(time)) if timestamp[10..].starts_with(['T', ' ']) => {
            format!("{day} {time}")
        }
        _ => one_line(timestamp),
    }
}

fn weekday(day: i64) -> &'static str {
    const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    usize::try_from(day)
        .ok()
        .and_then(|day| DAYS.get(day))
        .unwrap_or(&"")
}

/// Joins the words of a text; a short indentation stays, since trees use it.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let indent = text.chars().take_while(|c| *c == ' ').count();
    let indent = if indent <= 16 { indent } else { 0 };
    sanitize(&format!("{}{}", " ".repeat(indent), words.join(" "))).into_owned()
}

/// Names of models without their maker and the day of their release: opus-4-5, haiku-4-5.
fn models(names: &str) -> String {
    let short = |word: &str| {
        let (name, comma) = match word.strip_suffix(',') {
            Some(name) => (name, ","),
            None => (word, ""),
        };
        let name = name.strip_prefix("claude-").unwrap_or(name);
        let is_day = |part: &str| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_digit());
        let name = match name.rsplit_once('-') {
            Some((family, day)) if is_day(day) => family,
            _ => name,
        };
        format!("{name}{comma}")
    };
    let names = names.replace(',', ", ");
    let words: Vec<String> = names.split_whitespace().map(short).collect();
    words.join(" ")
}

/// The decimals that a number needs, at most three.
fn decimals(value: &Value) -> usize {
    match value {
        Value::Real(number) => {
            let text = format!("{number:.3}");
            let fraction = text.split('.').nth(1).unwrap_or_default();
            fraction.trim_end_matches('0').len()
        }
        _ => 0,
    }
}

fn decimal(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text.as_str(), None),
    };
    let sign = if number < 0.0 { "-" } else { "" };
    let digits = whole.trim_start_matches('-');
    let whole = digits.parse().map_or_else(|_| digits.to_string(), grouped);
    match fraction {
        Some(fraction) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{whole}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, values: &[Value]) -> (Kind, Vec<String>) {
        let kind = Kind::of(name, values.iter());
        (kind, values.iter().map(|value| kind.cell(value)).collect())
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_string())
    }

    #[test]
    fn the_end_of_a_name_decides_what_a_column_is() {
        for (name, value, kind, cell) in [
            ("cost_usd", Value::Real(1234.5), Kind::Money, "1,234.50"),
            ("cost_usd", Value::Real(0.0025), Kind::Money, "<0.01"),
            ("cost_usd", Value::Integer(0), Kind::Money, "0.00"),
            ("call_count", Value::Integer(12345), Kind::Count, "12,345"),
            (
                "p95_duration_ms",
                Value::Integer(125_000),
                Kind::Duration(1),
                "2 m 5 s",
            ),
            (
                "duration_s",
                Value::Integer(7380),
                Kind::Duration(1000),
                "2 h 3 m",
            ),
            ("result_bytes", Value::Integer(1500), Kind::Size, "1.5 kB"),
            ("hit_rate", Value::Real(0.9339), Kind::Share, "93.4%"),
            ("weekday", Value::Integer(0), Kind::Weekday, "Sun"),
            ("is_counted", Value::Integer(1), Kind::Flag, "yes"),
            ("message_id", Value::Integer(12345), Kind::Id, "12345"),
            ("status_code", Value::Integer(404), Kind::Number, "404"),
            (
                "said_at",
                text("2026-01-31T09:15:27.016Z"),
                Kind::Time,
                "2026-01-31 09:15",
            ),
            (
                "response_date",
                text("2026-01-31"),
                Kind::Date,
                "2026-01-31",
            ),
        ] {
            assert_eq!(
                shown(name, &[value]),
                (kind, vec![cell.to_string()]),
                "{name}"
            );
        }
    }

    #[test]
    fn values_that_do_not_fit_the_name_decide_for_themselves() {
        assert_eq!(shown("cost_usd", &[text("a lot")]).0, Kind::Text);
        assert_eq!(
            shown("said_at", &[text("a while ago, I think")]).0,
            Kind::Text
        );
        assert_eq!(shown("weekday", &[Value::Integer(7)]).0, Kind::Count);
        assert_eq!(shown("session_id", &[text(&"x".repeat(99))]).0, Kind::Text);
        assert_eq!(shown("name", &[text("Bash"), Value::Null]).0, Kind::Name);
        assert_eq!(shown("name", &[text("two words")]).0, Kind::Text);
    }

    #[test]
    fn numbers_of_a_column_have_the_same_decimals() {
        let values = [Value::Real(1234.5), Value::Integer(3), Value::Real(-0.25)];
        assert_eq!(shown("ratio", &values).1, ["1,234.50", "3.00", "-0.25"]);
    }

    #[test]
    fn lists_of_models_leave_out_what_the_names_have_in_common() {
        let switch = text("claude-opus-4-5-20251101 -> claude-haiku-4-5-20251001");
        assert_eq!(shown("models", &[switch]).1, ["opus-4-5 -> haiku-4-5"]);
        let (kind, cells) = shown(
            "models",
            &[
                text("claude-haiku-4-5-20251001, claude-opus-4-6,glm-4.6"),
                text("<synthetic>"),
            ],
        );
        assert_eq!(kind, Kind::Models);
        assert_eq!(cells, ["haiku-4-5, opus-4-6, glm-4.6", "<synthetic>"]);
        assert_eq!(
            shown("model", &[text("claude-opus-4-6")]).1,
            ["claude-opus-4-6"]
        );
    }

    #[test]
    fn a_unit_is_in_the_cells_or_in_the_name() {
        let unit = |name, value: Value| Kind::of(name, [&value].into_iter()).unit(name);
        assert_eq!(unit("p95_duration_ms", Value::Integer(1)), "_ms");
        assert_eq!(unit("result_bytes", Value::Integer(1)), "_bytes");
        assert_eq!(unit("cost_usd", Value::Real(1.0)), "");
        assert_eq!(unit("output_tokens", Value::Integer(1)), "");
    }

    #[test]
    fn an_indentation_is_kept_and_other_white_space_joined() {
        assert_eq!(Kind::Text.cell(&text("  a\n\tb ")), "  a b");
    }
}
