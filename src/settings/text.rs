//! Edits the text of a JSON object in place: everything else stays byte for byte, and new entries have the style around them.

use crate::json::{NotJson, Reader};
use serde::de::IgnoredAny;

/// Why a text is left alone.
pub type Refusal = String;

/// A part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// An entry of an object or a list. That of an object includes its key.
pub struct Entry {
    pub key: String,
    pub whole: Span,
    pub value: Span,
}

/// An object or a list.
pub struct Container {
    pub span: Span,
    pub entries: Vec<Entry>,
}

pub struct Settings<'a> {
    pub text: &'a str,
    pub root: Container,
}

/// What Windows programs write at the start of a file.
const BYTE_ORDER_MARK: &str = "\u{feff}";

pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

impl<'a> Settings<'a> {
    pub fn parse(text: &'a str) -> Result<Settings<'a>, Refusal> {
        let json = without_mark(text);
        if let Err(error) = serde_json::from_str::<IgnoredAny>(json) {
            return Err(not_json(json, &error));
        }
        let span = Span {
            start: text.len() - json.len(),
            end: text.len(),
        };
        let root = container(text, span, b'{').ok_or("it is not a JSON object")?;
        Ok(Settings { text, root })
    }

    /// The only entry with this key.
    pub fn find(&self, object: &Container, key: &str) -> Result<Option<usize>, Refusal> {
        let mut found = (0..object.entries.len()).filter(|at| object.entries[*at].key == key);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("it has {key:?} twice")),
            (first, None) => Ok(first),
        }
    }

    /// The text with something else in a place.
    pub fn with(&self, place: Span, new: &str) -> String {
        format!(
            "{}{new}{}",
            &self.text[..place.start],
            &self.text[place.end..]
        )
    }

    /// The white space before the first entry of an object or a list.
    fn space_before(&self, container: &Container) -> &'a str {
        let start = container.span.start + 1;
        let rest = &self.text[start..];
        &rest[..rest.len() - rest.trim_start_matches(WHITE_SPACE).len()]
    }

    /// The line break and the indentation of the entries; a blank if they are on one line.
    pub fn style_of(&self, container: &Container) -> &'a str {
        let space = self.space_before(container);
        match space.rfind('\n') {
            Some(at) if space[..at].ends_with('\r') => &space[at - 1..],
            Some(at) => &space[at..],
            None => " ",
        }
    }

    /// What one level adds to the indentation.
    pub fn unit(&self) -> &'a str {
        let indentation = self.style_of(&self.root).trim_start_matches(['\r', '\n']);
        match (self.root.entries.is_empty(), indentation) {
            (true, _) | (_, "") => "  ",
            (false, indentation) => indentation,
        }
    }

    /// Puts an entry behind the last one.
    pub fn append(&self, container: &Container, entry: impl Fn(Style) -> String) -> String {
        let unit = self.unit();
        let (at, before, space) = match container.entries.last() {
            Some(last) => (last.whole.end, ",", self.style_of(container)),
            None => (container.span.start + 1, "", " "),
        };
        let style = Style { space, unit };
        let is_root = container.span == self.root.span;
        let place = Span { start: at, end: at };
        let new = match (container.entries.is_empty(), is_root) {
            (true, true) if self.space_before(container).contains('\n') => {
                let is_crlf = self.space_before(container).contains("\r\n");
                let space = format!("{}{unit}", if is_crlf { "\r\n" } else { "\n" });
                let style = Style {
                    space: &space,
                    unit,
                };
                format!("{space}{}", entry(style))
            }
            (true, _) => entry(style),
            (false, _) => format!("{before}{space}{}", entry(style)),
        };
        self.with(place, &new)
    }

    /// Removes an entry and a comma. None if it is the only one of an object or a list that was added.
    pub fn without(&self, container: &Container, index: usize) -> Option<String> {
        let entries = &container.entries;
        let is_root = container.span == self.root.span;
        let place = match (index.checked_sub(1), entries.get(index + 1)) {
            (Some(before), _) => Span {
                start: entries[before].whole.end,
                end: entries[index].whole.end,
            },
            (None, Some(next)) => Span {
                start: entries[index].whole.start,
                end: next.whole.start,
            },
            (None, None) if !is_root && !self.space_before(container).is_empty() => return None,
            (None, None) => Span {
                start: container.span.start + 1,
                end: entries[index].whole.end,
            },
        };
        Some(self.with(place, ""))
    }
}

/// How a new entry is written.
#[derive(Clone, Copy)]
pub struct Style<'a> {
    /// What is before an entry.
    pub space: &'a str,
    pub unit: &'a str,
}

impl Style<'_> {
    pub fn is_on_one_line(self) -> bool {
        !self.space.contains('\n')
    }

    /// `"key": {...}` or `"key": [...]` with one entry.
    pub fn member(self, key: &str, brackets: [char; 2], entry: impl Fn(Style) -> String) -> String {
        let deeper = match self.is_on_one_line() {
            true => self.space.to_string(),
            false => format!("{}{}", self.space, self.unit),
        };
        let inner = Style {
            space: &deeper,
            unit: self.unit,
        };
        let [open, close] = brackets;
        let entry = entry(inner);
        let key = serde_json::to_string(key).expect("a string is JSON");
        format!("{key}: {open}{deeper}{entry}{}{close}", self.space)
    }
}

const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Finds the entries of an object or a list; none if the value is not one.
pub fn container(text: &str, place: Span, opener: u8) -> Option<Container> {
    let json = &text[place.start..place.end];
    let trimmed = json.trim_matches(WHITE_SPACE);
    let start = place.start + json.find(trimmed)?;
    let span = Span {
        start,
        end: start + trimmed.len(),
    };
    if !trimmed.as_bytes().starts_with(&[opener]) {
        return None;
    }
    let values = entries(trimmed, opener).ok()?;
    let mut entries = Vec::new();
    let mut end = span.start + 1;
    for (key, value) in values {
        let value_start = span.start + (value.as_ptr().addr() - trimmed.as_ptr().addr());
        let skipped = WHITE_SPACE.into_iter().chain([',']);
        let skipped: Vec<char> = skipped.collect();
        let rest = text[end..].trim_start_matches(skipped.as_slice());
        let value = Span {
            start: value_start,
            end: value_start + value.len(),
        };
        let whole = Span {
            start: text.len() - rest.len(),
            end: value.end,
        };
        end = value.end;
        entries.push(Entry { key, whole, value });
    }
    Some(Container { span, entries })
}

/// The keys and values of an object, or the values of a list.
fn entries(json: &str, opener: u8) -> Result<Vec<(String, &str)>, NotJson> {
    let mut reader = Reader::new(json);
    let mut entries = Vec::new();
    match opener {
        b'{' => reader.object(|reader, key| {
            entries.push((key.into_owned(), reader.raw()?.get()));
            Ok(())
        })?,
        _ => reader.list(|reader| {
            entries.push((String::new(), reader.raw()?.get()));
            Ok(())
        })?,
    }
    Ok(entries)
}

fn not_json(json: &str, error: &serde_json::Error) -> Refusal {
    let line = json.lines().nth(error.line().saturating_sub(1));
    let at = line.and_then(|line| line.get(error.column().saturating_sub(1)..));
    match at {
        _ if json.trim().is_empty() => "it is empty".to_string(),
        Some(rest) if rest.starts_with("//") || rest.starts_with("/*") => {
            format!("line {} has a comment, and JSON has none", error.line())
        }
        _ => format!("it is not JSON: {error}"),
    }
}
