//! Prints untrusted text safely: transcripts contain the output of programs and web pages, with escape sequences, and file
//! names can contain any byte. Also lays out tables, numbers and emphasis.

use rusqlite::types::Value;
use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// Escapes characters that control a terminal, except newline and tab.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_control(character) {
            write!(safe, "\\u{{{:x}}}", u32::from(character))
                .expect("writing to a string cannot fail");
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Like [`sanitize`], with JSON escapes, so that the value of the JSON is unchanged.
pub fn sanitize_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_control) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if is_control(character) {
            // All control characters are in the basic multilingual plane.
            write!(safe, "\\u{:04x}", u32::from(character))
                .expect("writing to a string cannot fail");
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Control characters except newline and tab, and bidirectional formatting characters.
fn is_control(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{200e}'
        | '\u{200f}'
        | '\u{061c}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

/// Whether stdout is a terminal.
pub fn is_used() -> bool {
    use std::io::IsTerminal;
    std::io::stdout().is_terminal()
}

/// The width of the terminal; none if stdout is not one.
pub fn width() -> Option<usize> {
    terminal_size::terminal_size()
        .filter(|_| is_used())
        .map(|(width, _)| usize::from(width.0))
}

/// Lays out a table. Numbers are right-aligned; if a width is given, the widest text columns are truncated to fit.
pub fn table(columns: &[String], rows: &[Vec<Value>], width: Option<usize>) -> String {
    let is_number = |column: usize| {
        let mut values = rows
            .iter()
            .map(|row| &row[column])
            .filter(|value| **value != Value::Null)
            .peekable();
        values.peek().is_some()
            && values.all(|value| matches!(value, Value::Integer(_) | Value::Real(_)))
    };
    let numbers: Vec<bool> = (0..columns.len()).map(is_number).collect();
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .zip(columns)
                .map(|(value, name)| cell(value, name))
                .collect()
        })
        .collect();
    let columns: Vec<String> = columns
        .iter()
        .map(|name| sanitize(name).replace(['\n', '\t'], " "))
        .collect();
    let mut widths: Vec<usize> = columns.iter().map(|name| name.width()).collect();
    for row in &cells {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(cell.width());
        }
    }
    if let Some(width) = width {
        fit(&mut widths, &numbers, width);
    }
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells
            .iter()
            .enumerate()
            .map(|(column, cell)| pad(cell, widths[column], numbers[column]))
            .collect();
        padded.join("  ").trim_end().to_string()
    };
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    let mut lines = vec![line(&columns), rule.join("  ")];
    lines.extend(cells.iter().map(|row| line(row)));
    lines.join("\n")
}

/// Shrinks the widest text columns until the table fits. Numbers are never truncated.
fn fit(widths: &mut [usize], numbers: &[bool], width: usize) {
    const MINIMUM: usize = 8;
    let gaps = 2 * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        let texts =
            (0..widths.len()).filter(|column| !numbers[*column] && widths[*column] > MINIMUM);
        match texts.max_by_key(|column| widths[*column]) {
            Some(column) => widths[column] -= 1,
            None => break,
        }
    }
}

fn pad(cell: &str, width: usize, is_number: bool) -> String {
    let mut text = cell.to_string();
    if text.width() > width {
        while text.width() + 1 > width {
            text.pop();
        }
        text.push('…');
    }
    let blanks = " ".repeat(width.saturating_sub(text.width()));
    match is_number {
        true => blanks + &text,
        false => text + &blanks,
    }
}

/// Formats a value for people, on one line.
fn cell(value: &Value, name: &str) -> String {
    let is_name = ["_id", "_key", "_number", "_code", "_year"]
        .iter()
        .any(|end| name.ends_with(end));
    match value {
        Value::Null => String::new(),
        Value::Integer(number) if is_name => number.to_string(),
        Value::Integer(number) => grouped(*number),
        Value::Real(number) if name.ends_with("_usd") => money(*number),
        Value::Real(number) => trim_zeros(format!("{number:.3}")),
        Value::Text(text) => {
            let line: Vec<&str> = text.split_whitespace().collect();
            sanitize(&line.join(" ")).into_owned()
        }
        Value::Blob(bytes) => format!("{} bytes", grouped(bytes.len() as i64)),
    }
}

/// Dollars with two decimals; small amounts with up to six.
pub fn money(amount: f64) -> String {
    match amount.abs() {
        small if small > 0.0 && small < 0.1 => trim_zeros(format!("{amount:.6}")),
        _ => {
            let cents = format!("{amount:.2}");
            let (whole, fraction) = cents.split_once('.').unwrap_or((&cents, "00"));
            let whole = whole.parse().map_or_else(|_| whole.to_string(), grouped);
            format!("{whole}.{fraction}")
        }
    }
}

fn trim_zeros(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

pub const BAR_WIDTH: usize = 16;

/// Draws a bar for a share between 0 and 1, in eighths of a character.
pub fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (width * 8) as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Bold and faint text, if the terminal supports it.
pub struct Emphasis {
    is_shown: bool,
}

/// The private-use characters that statements put around matches.
const MARKS: [char; 2] = ['\u{e000}', '\u{e001}'];

impl Emphasis {
    /// Emphasis for stdout: none if it is not a terminal, or if NO_COLOR is set.
    #[allow(clippy::new_without_default)] // it depends on the environment, which a default should not
    pub fn new() -> Emphasis {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Emphasis {
            is_shown: wanted && width().is_some(),
        }
    }

    #[cfg(test)]
    pub fn always() -> Emphasis {
        Emphasis { is_shown: true }
    }

    #[cfg(test)]
    pub fn none() -> Emphasis {
        Emphasis { is_shown: false }
    }

    pub fn faint(&self, text: &str) -> String {
        self.style("2", text)
    }

    /// Text with these parameters of the escape sequence SGR: "1" is bold, "31" red.
    pub fn style(&self, parameters: &str, text: &str) -> String {
        match self.is_shown && !text.is_empty() {
            true => format!("\x1b[{parameters}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }

    /// Shows marked matches in bold, else in brackets.
    pub fn marked(&self, text: &str) -> String {
        let marks = match self.is_shown {
            true => ["\x1b[1m", "\x1b[0m"],
            false => ["[", "]"],
        };
        text.replace(MARKS[0], marks[0]).replace(MARKS[1], marks[1])
    }
}

/// Formats a number with thousands separators: 12,345.
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// Formats seconds with their two largest units: 2 m 5 s.
pub fn duration(seconds: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400, "d"), (3600, "h"), (60, "m"), (1, "s")];
    let mut parts = Vec::new();
    let mut left = seconds;
    for (unit, name) in UNITS {
        if left >= unit {
            parts.push(format!("{} {name}", left / unit));
            left %= unit;
        } else if !parts.is_empty() {
            break;
        }
    }
    match parts.is_empty() {
        true => "0 s".to_string(),
        false => parts[..parts.len().min(2)].join(" "),
    }
}

/// Formats a size in decimal units: 1.5 MB.
pub fn byte_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "kB", "MB", "GB", "TB"];
    let mut amount = bytes as f64;
    let mut unit = 0;
    while amount >= 999.5 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} bytes"),
        _ if amount < 9.95 => format!("{amount:.1} {}", UNITS[unit]),
        _ => format!("{amount:.0} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            sanitize("a\x1b[31mb\u{9b}c\u{202e}d\re"),
            "a\\u{1b}[31mb\\u{9b}c\\u{202e}d\\u{d}e"
        );
        assert!(matches!(sanitize("plain ü\n\t"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_table_fits_and_numbers_are_right_aligned() {
        let columns = ["title".to_string(), "cost_usd".to_string()];
        let rows = vec![
            vec![
                Value::Text("a long title\nthat goes on".into()),
                Value::Real(1234.5),
            ],
            vec![Value::Text("短い".into()), Value::Real(0.0025)],
        ];
        let drawn = table(&columns, &rows, Some(20));
        assert_eq!(
            drawn,
            "title      cost_usd\n──────────  ────────\na long ti…  1,234.50\n短い          0.0025"
                .replace("title      cost", "title       cost")
        );
        assert!(table(&columns, &rows, None).contains("a long title that goes on"));
    }

    #[test]
    fn numbers_have_separators_and_units() {
        assert_eq!(
            [grouped(0), grouped(-1234), grouped(1_000_000)],
            ["0", "-1,234", "1,000,000"]
        );
        assert_eq!(
            [byte_size(999), byte_size(1500), byte_size(142_010_740)],
            ["999 bytes", "1.5 kB", "142 MB"]
        );
    }
}
