//! Replaces home directories, which name people, by `~`.

use crate::database::statements;
use crate::error::Result;
use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::{Captures, Regex, RegexBuilder};
use rusqlite::Connection;
use std::borrow::Cow;
use std::collections::HashMap;

/// The home directories of a database.
pub struct Homes {
    /// Their paths in every form.
    forms: AhoCorasick,
    /// What is shown for each form.
    shown: Vec<String>,
    /// A path in any home directory.
    any: Regex,
}

/// The rule's id in the report of what was masked.
pub const RULE: &str = "home-directory";

/// Of a home directory that no project, session or changed file is in.
const OTHER: &str = "~other";

const ANY: &str = r#"(?P<before>^|[^A-Za-z0-9_.~-])(?P<home>(?:/home/|/Users/|(?:/mnt)?/[a-z]/Users/|[A-Za-z]:[\\/]{1,4}Users[\\/]{1,4})(?P<user>[^\s/\\"'`<>|:*?,;()\[\]{}$&]+))"#;

impl Homes {
    /// The one that most paths are in is `~`, the next one `~2`: keys stay unique.
    pub fn read(connection: &Connection) -> Result<Homes> {
        let any = RegexBuilder::new(ANY).unicode(false).build();
        let any = any.expect("the pattern is valid");
        let mut counts: HashMap<String, i64> = HashMap::new();
        let mut statement = connection.prepare(statements::EXPORT_PATHS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let path: String = row.get(0)?;
            if let Some(found) = any
                .captures(path.as_bytes())
                .filter(|found| found["before"].is_empty())
            {
                *counts.entry(text(&found, "home")).or_default() += row.get::<_, i64>(1)?;
            }
        }
        let mut homes: Vec<(String, i64)> = counts.into_iter().collect();
        homes.sort_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then(a.cmp(b)));
        let (mut forms, mut shown) = (Vec::new(), Vec::new());
        for (place, (home, _)) in homes.iter().enumerate() {
            let name = match place {
                0 => "~".to_string(),
                _ => format!("~{}", place + 1),
            };
            for form in forms_of(home) {
                forms.push(form);
                shown.push(name.clone());
            }
        }
        let forms = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(forms);
        Ok(Homes {
            forms: forms.expect("the paths fit into an automaton"),
            shown,
            any,
        })
    }

    /// Returns the text and how many were replaced.
    pub fn hide<'t>(&self, text: &'t str) -> (Cow<'t, str>, u64) {
        let (text, known_count) = self.hide_known(text);
        let (hidden, other_count) = self.hide_other(&text);
        let hidden = match hidden {
            Some(hidden) => Cow::Owned(hidden),
            None => text,
        };
        (hidden, known_count + other_count)
    }

    fn hide_known<'t>(&self, text: &'t str) -> (Cow<'t, str>, u64) {
        let (mut hidden, mut end, mut count) = (String::new(), 0, 0);
        for found in self.forms.find_iter(text) {
            let next = text.as_bytes().get(found.end());
            if next.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
                continue;
            }
            hidden.push_str(&text[end..found.start()]);
            hidden.push_str(&self.shown[found.pattern().as_usize()]);
            end = found.end();
            count += 1;
        }
        if count == 0 {
            return (Cow::Borrowed(text), 0);
        }
        hidden.push_str(&text[end..]);
        (Cow::Owned(hidden), count)
    }

    fn hide_other(&self, text: &str) -> (Option<String>, u64) {
        let (mut hidden, mut end, mut count) = (String::new(), 0, 0);
        for found in self.any.captures_iter(text.as_bytes()) {
            let home = found.name("home").expect("the group takes part");
            hidden.push_str(&text[end..home.start()]);
            hidden.push_str(OTHER);
            end = home.end();
            count += 1;
        }
        if count == 0 {
            return (None, 0);
        }
        hidden.push_str(&text[end..]);
        (Some(hidden), count)
    }
}

/// A path, as Claude Code writes it in the name of a project's folder, and as JSON escapes it.
fn forms_of(home: &str) -> Vec<String> {
    let encode = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let mut forms = vec![home.to_string(), home.chars().map(encode).collect()];
    let is_windows = home.as_bytes().get(1) == Some(&b':');
    if let (true, Some(drive), Some(user)) =
        (is_windows, home.get(..1), home.rsplit(['\\', '/']).next())
    {
        let lower = drive.to_ascii_lowercase();
        for drive in [drive, &lower] {
            for separator in ["\\", "\\\\", "\\\\\\\\", "/"] {
                forms.push(format!("{drive}:{separator}Users{separator}{user}"));
            }
        }
        forms.push(format!("/{lower}/Users/{user}"));
        forms.push(format!("/mnt/{lower}/Users/{user}"));
    }
    forms.sort();
    forms.dedup();
    forms
}

fn text(found: &Captures<'_>, group: &str) -> String {
    String::from_utf8_lossy(&found[group]).into_owned()
}
