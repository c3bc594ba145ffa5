//! Truncates strings for columns that repeat what another column has, so that a line of hundreds of megabytes is not copied
//! many times. The view `_limits` has the same limit for SQL.

use std::borrow::Cow;

/// More than the context window of any model.
pub const MAX_CHARS: usize = 1_000_000;

/// Truncates a string to [`MAX_CHARS`] and frees the memory of the rest.
pub fn truncate(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(truncate_str(text)),
        Cow::Owned(mut text) => {
            let end = truncate_str(&text).len();
            if end < text.len() {
                text.truncate(end);
                text.shrink_to_fit();
            }
            Cow::Owned(text)
        }
    }
}

pub fn truncate_str(text: &str) -> &str {
    // A character has at least one byte.
    if text.len() <= MAX_CHARS {
        return text;
    }
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Joins strings with newlines. Two or more are truncated.
pub fn join_truncated<'a>(strings: &[&'a str]) -> Cow<'a, str> {
    let [first, others @ ..] = strings else {
        return Cow::Borrowed("");
    };
    if others.is_empty() {
        return Cow::Borrowed(first);
    }
    let mut joined = truncate_str(first).to_string();
    for text in others {
        joined.push('\n');
        joined.push_str(truncate_str(text));
        joined.truncate(truncate_str(&joined).len());
    }
    Cow::Owned(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_counts_characters_and_not_bytes() {
        let text = "é".repeat(MAX_CHARS + 1);
        assert_eq!(truncate_str(&text).chars().count(), MAX_CHARS);
        assert_eq!(truncate(Cow::Borrowed(&text)), truncate_str(&text));
        assert_eq!(truncate(Cow::Owned(text.clone())), truncate_str(&text));
        assert_eq!(truncate_str(&text[2..]), &text[2..]);
        assert_eq!(truncate_str("short"), "short");
    }

    #[test]
    fn sql_has_the_same_limit() {
        let folder = tempfile::tempdir().unwrap();
        let connection = crate::database::create(&folder.path().join("test.db")).unwrap();
        let query = "select text_characters from _limits";
        let limit: i64 = connection.query_row(query, [], |row| row.get(0)).unwrap();
        assert_eq!(limit, MAX_CHARS as i64);
    }

    #[test]
    fn joined_strings_are_truncated_as_one() {
        assert_eq!(join_truncated(&[]), "");
        assert_eq!(join_truncated(&["a", "b", ""]), "a\nb\n");
        let long = "x".repeat(MAX_CHARS - 1);
        assert_eq!(join_truncated(&[&long, "ab", "c"]), format!("{long}\n"));
    }
}
