//! The one place that makes text safe to print. Transcripts hold what web pages and programs wrote, escape sequences
//! included, and file names can hold anything.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Text without anything that a terminal would act upon. Newlines and tabs stay.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_active(character) {
            write!(safe, "\\u{{{:x}}}", u32::from(character)).expect("a string can be written to");
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Controls other than newline and tab, and the marks that turn the direction of writing.
fn is_active(character: char) -> bool {
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

/// A number with thousands apart: 12,345.
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

/// Bytes in the unit that reads best: 1.5 MB.
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
    fn nothing_that_a_terminal_acts_upon_gets_through() {
        assert_eq!(
            sanitize("a\x1b[31mb\u{9b}c\u{202e}d\re"),
            "a\\u{1b}[31mb\\u{9b}c\\u{202e}d\\u{d}e"
        );
        assert!(matches!(sanitize("plain ü\n\t"), Cow::Borrowed(_)));
    }

    #[test]
    fn numbers_read_well() {
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
