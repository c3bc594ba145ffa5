//! Fits text into a width of terminal columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Breaks a text into at most this many lines; what remains is cut.
pub fn wrap(text: &str, width: usize, limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = match lines.len() + 1 < limit {
            true => line_end(rest, width),
            false => rest.len(),
        };
        let (line, after) = rest.split_at(end);
        lines.push(match line.width() > width {
            true => start_of(line, width),
            false => line.trim_end().to_string(),
        });
        rest = after.trim_start();
    }
    lines
}

/// Where to break: after the last space that fits, else after the last separator of a long word, else anywhere.
fn line_end(text: &str, width: usize) -> usize {
    let fitting = fitting(text, width);
    if fitting == text.len() {
        return fitting;
    }
    let line = &text[..fitting];
    let next_is_space = text[fitting..].starts_with(' ');
    let indent = line.len() - line.trim_start().len();
    match line[indent..].rfind(' ') {
        _ if next_is_space => fitting,
        Some(space) => indent + space + 1,
        None => match line.rfind(['/', '_', '-', '.', ',']) {
            Some(separator) if separator > fitting / 2 => separator + 1,
            _ => fitting,
        },
    }
}

/// The number of bytes that fit into a width; at least one character.
fn fitting(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (place, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > width && place > 0 {
            return place;
        }
    }
    text.len()
}

pub fn start_of(text: &str, width: usize) -> String {
    match text.width() > width {
        true => format!(
            "{}…",
            text[..fitting(text, width.saturating_sub(1))].trim_end()
        ),
        false => text.to_string(),
    }
}

/// The last characters, each of which is one column wide.
pub fn last_of(text: &str, width: usize) -> String {
    let left_out = text.chars().count().saturating_sub(width);
    text.chars().skip(left_out).collect()
}

pub fn end_of(text: &str, width: usize) -> String {
    let mut used = text.width();
    if used <= width {
        return text.to_string();
    }
    let mut rest = text.chars();
    while used >= width {
        match rest.next() {
            Some(character) => used -= character.width().unwrap_or(0).min(used),
            None => break,
        }
    }
    format!("…{}", rest.as_str())
}
