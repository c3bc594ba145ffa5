//! The beginning of a text. A column that repeats what stands elsewhere gets no more than this, so that a line of
//! hundreds of megabytes is not held many times over. The same number stands in `sql/`, where SQL repeats a text.

use std::borrow::Cow;

/// So many characters: more than any model reads at once.
pub const CHARS: usize = 1_000_000;

/// The beginning of a text; nearly always all of it.
pub fn of(text: &str) -> &str {
    // A character has at least a byte.
    if text.len() <= CHARS {
        return text;
    }
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Keeps nothing but the beginning; the rest takes no memory any more.
pub fn keep(text: Cow<'_, str>) -> Cow<'_, str> {
    let end = of(&text).len();
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) if end < text.len() => {
            text.truncate(end);
            text.shrink_to_fit();
            Cow::Owned(text)
        }
        whole => whole,
    }
}

/// The beginning of several texts, each on lines of its own.
pub fn joined<'a>(texts: &[&'a str]) -> Cow<'a, str> {
    let [first, others @ ..] = texts else {
        return Cow::Borrowed("");
    };
    if others.is_empty() {
        return Cow::Borrowed(first);
    }
    let mut joined = of(first).to_string();
    for text in others {
        joined.push('\n');
        joined.push_str(of(text));
        joined.truncate(of(&joined).len());
    }
    Cow::Owned(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        let text = "é".repeat(CHARS + 1);
        assert_eq!(of(&text).chars().count(), CHARS);
        assert_eq!(keep(Cow::Borrowed(&text)), of(&text));
        assert_eq!(keep(Cow::Owned(text.clone())), of(&text));
        assert_eq!(of(&text[2..]), &text[2..]);
        assert_eq!(of("short"), "short");
    }

    #[test]
    fn several_texts_have_one_beginning() {
        assert_eq!(joined(&[]), "");
        assert_eq!(joined(&["a", "b", ""]), "a\nb\n");
        let long = "x".repeat(CHARS - 1);
        assert_eq!(joined(&[&long, "ab", "c"]), format!("{long}\n"));
    }
}
