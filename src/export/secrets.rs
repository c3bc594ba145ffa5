//! Finds secrets in text by the rules of `secrets.tsv`, and masks them.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use regex::bytes::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const RULES: &str = include_str!("secrets.tsv");

/// How many secrets each rule has masked.
pub type Counts = BTreeMap<&'static str, u64>;

/// All rules, compiled when they are first needed.
pub fn rules() -> &'static Rules {
    static COMPILED: OnceLock<Rules> = OnceLock::new();
    COMPILED.get_or_init(|| Rules::parse(RULES))
}

pub struct Rules {
    rules: Vec<Rule>,
    /// Keywords of rules that distinguish cases, and of those that do not.
    keywords: [Keywords; 2],
}

struct Rule {
    id: &'static str,
    pattern: &'static str,
    regex: OnceLock<Regex>,
}

struct Keywords {
    automaton: AhoCorasick,
    /// The rule of each keyword.
    rules: Vec<usize>,
}

/// What a rule has found: a range of bytes.
struct Span {
    start: usize,
    end: usize,
    rule: usize,
}

impl Rules {
    fn parse(text: &'static str) -> Rules {
        let mut rules = Vec::new();
        let mut keywords = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
        for line in text.lines() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut fields = line.split('\t');
            let mut field = || fields.next().expect("a rule has four fields");
            let (id, of_rule, pattern) = (field(), field(), field());
            let (words, numbers) = &mut keywords[usize::from(pattern.starts_with("(?i)"))];
            for word in of_rule.split(',') {
                words.push(word);
                numbers.push(rules.len());
            }
            let regex = OnceLock::new();
            rules.push(Rule { id, pattern, regex });
        }
        let mut ignores_case = false;
        let keywords = keywords.map(|(words, rules)| {
            let automaton = AhoCorasickBuilder::new()
                .ascii_case_insensitive(ignores_case)
                .build(words);
            ignores_case = true;
            Keywords {
                automaton: automaton.expect("the keywords fit into an automaton"),
                rules,
            }
        });
        Rules { rules, keywords }
    }

    /// Replaces each secret by the id of its rule, and counts it. Takes time and memory linear in the length of the text.
    pub fn mask<'t>(&self, text: &'t str, counts: &mut Counts) -> Cow<'t, str> {
        let spans = self.find(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut end = 0;
        for span in spans {
            let id = self.rules[span.rule].id;
            masked.push_str(&text[end..span.start]);
            masked.push_str("[REDACTED:");
            masked.push_str(id);
            masked.push(']');
            end = span.end;
            *counts.entry(id).or_default() += 1;
        }
        masked.push_str(&text[end..]);
        Cow::Owned(masked)
    }

    /// In order, and without overlaps.
    fn find(&self, text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        for (number, is_possible) in self.possible(text).into_iter().enumerate() {
            if is_possible {
                self.rules[number].find(number, text, &mut spans);
            }
        }
        spans.sort_by_key(|span| (span.start, span.rule));
        spans.dedup_by(|next, last| {
            let overlaps = next.start < last.end;
            if overlaps {
                last.end = last.end.max(next.end);
                last.rule = last.rule.min(next.rule);
            }
            overlaps
        });
        spans
    }

    /// The rules of which the text has a keyword.
    fn possible(&self, text: &str) -> Vec<bool> {
        let mut is_possible = vec![false; self.rules.len()];
        for keywords in &self.keywords {
            for found in keywords.automaton.find_overlapping_iter(text) {
                is_possible[keywords.rules[found.pattern().as_usize()]] = true;
            }
        }
        is_possible
    }
}

impl Rule {
    fn find(&self, number: usize, text: &str, spans: &mut Vec<Span>) {
        let regex = self.regex.get_or_init(|| compile(self.pattern));
        let group = usize::from(regex.captures_len() > 1);
        let mut add = |start: usize, end: usize| {
            // A pattern may end within a character.
            let start = (0..=start)
                .rev()
                .find(|place| text.is_char_boundary(*place));
            let end = (end..=text.len()).find(|place| text.is_char_boundary(*place));
            spans.push(Span {
                start: start.unwrap_or(0),
                end: end.unwrap_or(text.len()),
                rule: number,
            });
        };
        if group == 0 {
            for found in regex.find_iter(text.as_bytes()) {
                add(found.start(), found.end());
            }
            return;
        }
        for found in regex.captures_iter(text.as_bytes()) {
            let secret = found.get(group).expect("the group takes part in the match");
            add(secret.start(), secret.end());
        }
    }
}

fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(32 << 20)
        .build()
        .expect("a test compiles all patterns")
}
