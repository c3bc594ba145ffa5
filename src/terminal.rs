//! Prints untrusted text safely: transcripts contain the output of programs and web pages, with escape sequences, and file
//! names can contain any byte. Also formats numbers, and emphasizes text.

use clap::ValueEnum;
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

/// The width and height of the terminal; none if stdout is not one.
pub fn size() -> Option<(usize, usize)> {
    terminal_size::terminal_size()
        .filter(|_| is_used())
        .map(|(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// The width of the terminal that stderr is; none if it is not one.
pub fn error_width() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| usize::from(width.0))
}

/// Formats dollars with two decimals.
pub fn money(amount: f64) -> String {
    if amount > 0.0 && amount < 0.005 {
        return "<0.01".to_string();
    }
    let cents = format!("{:.2}", amount.abs());
    let (whole, fraction) = cents.split_once('.').unwrap_or((&cents, "00"));
    let whole = whole.parse().map_or_else(|_| whole.to_string(), grouped);
    let sign = if amount <= -0.005 { "-" } else { "" };
    format!("{sign}{whole}.{fraction}")
}

/// Formats milliseconds: 850 ms, 2.6 s, 2 m 5 s, 3 h 12 m, 5 d 4 h.
pub fn duration(milliseconds: f64) -> String {
    let seconds = milliseconds / 1000.0;
    if milliseconds < 999.5 {
        return format!("{milliseconds:.0} ms");
    }
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let pair = |amount: f64, size: u64, unit: &str, part: &str| {
        let parts = amount.round() as u64;
        match parts % size {
            0 => format!("{} {unit}", parts / size),
            rest => format!("{} {unit} {rest} {part}", parts / size),
        }
    };
    match seconds {
        ..59.5 => format!("{seconds:.0} s"),
        ..3599.5 => pair(seconds, 60, "m", "s"),
        ..172_770.0 => pair(seconds / 60.0, 60, "h", "m"),
        _ => pair(seconds / 3600.0, 24, "d", "h"),
    }
}

/// How long ago something was, in its largest unit: 5 m ago, 2 h ago, 3 d ago.
pub fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => "now".to_string(),
        60..3600 => format!("{} m ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// A number of things, in the singular or plural: 1 file, 2 files.
pub fn counted(number: i64, singular: &str) -> String {
    let plural = match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{singular}s"),
    };
    let name = if number == 1 { singular } else { &plural };
    format!("{} {name}", grouped(number))
}

/// Draws a bar for a share between 0 and 1, in eighths of a character.
pub fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (width * 8) as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// If stdout is a terminal and NO_COLOR is not set
    Auto,
    Always,
    Never,
}

/// Emphasis of text, if the terminal supports it. By default there is none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Emphasis {
    is_shown: bool,
}

/// The private-use characters that statements put around matches.
const MARKS: [char; 2] = ['\u{e000}', '\u{e001}'];

impl Emphasis {
    /// Emphasis for stdout.
    pub fn new(color: Color) -> Emphasis {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Emphasis {
            is_shown: match color {
                Color::Auto => is_used() && !is_set("NO_COLOR") && !is_dumb,
                Color::Always => true,
                Color::Never => false,
            },
        }
    }

    /// Text with these parameters of the escape sequence SGR: "1" is bold, "31" red.
    pub fn style(&self, parameters: &str, text: &str) -> String {
        match self.is_shown && !text.is_empty() {
            true => format!("\x1b[{parameters}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }

    pub fn bold(&self, text: &str) -> String {
        self.style("1", text)
    }

    pub fn faint(&self, text: &str) -> String {
        self.style("2", text)
    }

    /// For bars and names.
    pub fn accent(&self, text: &str) -> String {
        self.style("36", text)
    }

    pub fn good(&self, text: &str) -> String {
        self.style("32", text)
    }

    pub fn bad(&self, text: &str) -> String {
        self.style("1;31", text)
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

/// The width of a line, without the codes of its emphasis.
pub fn shown_width(line: &str) -> usize {
    let mut parts = line.split("\x1b[");
    let first = parts.next().map_or(0, |part| part.width());
    let after_code = |part: &str| part.split_once('m').map_or(0, |(_, text)| text.width());
    first + parts.map(after_code).sum::<usize>()
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

/// Formats a number with three digits: 12.3k, 485k, 1.2M.
pub fn abbreviated(number: i64) -> String {
    const UNITS: [&str; 5] = ["", "k", "M", "G", "T"];
    let mut amount = number as f64;
    let mut unit = 0;
    while amount.abs() >= 999.5 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => number.to_string(),
        _ if amount.abs() < 99.95 => format!("{amount:.1}{}", UNITS[unit]),
        _ => format!("{amount:.0}{}", UNITS[unit]),
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
    fn numbers_have_separators_and_units() {
        assert_eq!(
            [grouped(0), grouped(-1234), grouped(1_000_000)],
            ["0", "-1,234", "1,000,000"]
        );
        assert_eq!(
            [0, 999, -1234, 12_345, 99_960, 485_400, 999_600, 351_371_936].map(abbreviated),
            ["0", "999", "-1.2k", "12.3k", "100k", "485k", "1.0M", "351M"]
        );
        assert_eq!(
            [byte_size(999), byte_size(1500), byte_size(142_010_740)],
            ["999 bytes", "1.5 kB", "142 MB"]
        );
        assert_eq!(
            [1234.5, 0.01, 0.0049, 0.0, -2.5, -0.001].map(money),
            ["1,234.50", "0.01", "<0.01", "0.00", "-2.50", "0.00"]
        );
        assert_eq!(
            [
                counted(1, "home"),
                counted(1200, "query"),
                counted(0, "file")
            ],
            ["1 home", "1,200 queries", "0 files"]
        );
    }

    #[test]
    fn durations_have_at_most_two_units() {
        let shown = [
            (0.0, "0 ms"),
            (850.4, "850 ms"),
            (999.6, "1.0 s"),
            (2632.0, "2.6 s"),
            (9_960.0, "10 s"),
            (59_600.0, "1 m"),
            (125_000.0, "2 m 5 s"),
            (3_599_600.0, "1 h"),
            (11_520_000.0, "3 h 12 m"),
            (446_400_000.0, "5 d 4 h"),
        ];
        for (milliseconds, text) in shown {
            assert_eq!(duration(milliseconds), text);
        }
    }
}
