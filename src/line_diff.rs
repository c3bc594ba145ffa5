//! Compares two texts line by line. `similar::TextDiff` does the same, but compiles five algorithms into the program.

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffOp, DiffableStr};
use std::ops::Range;

pub struct LineDiff<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    ops: Vec<DiffOp>,
}

impl<'a> LineDiff<'a> {
    pub fn new(old: &'a str, new: &'a str) -> LineDiff<'a> {
        let (old, new) = (old.tokenize_lines(), new.tokenize_lines());
        let mut ops = Compact::new(Replace::new(Capture::new()), &old[..], &new[..]);
        let Ok(()) = myers::diff(&mut ops, &old[..], 0..old.len(), &new[..], 0..new.len());
        let ops = ops.into_inner().into_inner().into_ops();
        LineDiff { old, new, ops }
    }

    /// All lines of both texts, each with '+', '-' or ' '.
    pub fn lines(&self) -> impl Iterator<Item = (char, &'a str)> {
        self.lines_of(&self.ops)
    }

    /// How many lines were added and how many removed.
    pub fn counts(&self) -> (i64, i64) {
        let (mut added, mut removed) = (0, 0);
        for (mark, _) in self.lines() {
            added += i64::from(mark == '+');
            removed += i64::from(mark == '-');
        }
        (added, removed)
    }

    /// A unified diff, without the names of the files.
    pub fn unified(&self) -> String {
        let mut text = String::new();
        for ops in similar::group_diff_ops(self.ops.clone(), 3) {
            let (Some(first), Some(last)) = (ops.first(), ops.last()) else {
                continue;
            };
            let old = hunk_range(first.old_range().start..last.old_range().end);
            let new = hunk_range(first.new_range().start..last.new_range().end);
            text.push_str(&format!("@@ -{old} +{new} @@\n"));
            for (mark, line) in self.lines_of(&ops) {
                text.push(mark);
                text.push_str(line);
                if !line.ends_with('\n') {
                    text.push('\n');
                }
            }
        }
        text
    }

    fn lines_of(&self, ops: &[DiffOp]) -> impl Iterator<Item = (char, &'a str)> {
        let changes = ops
            .iter()
            .flat_map(|op| op.iter_changes(&self.old[..], &self.new[..]));
        changes.map(|change| {
            let mark = match change.tag() {
                ChangeTag::Insert => '+',
                ChangeTag::Delete => '-',
                ChangeTag::Equal => ' ',
            };
            (mark, change.value())
        })
    }
}

/// The first line, counted from 1, and the number of lines. Of an empty range, the line before it.
fn hunk_range(range: Range<usize>) -> String {
    let first = range.start + usize::from(!range.is_empty());
    format!("{first},{}", range.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_the_order_of_both_texts() {
        let diff = LineDiff::new("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n");
        let lines: Vec<_> = diff.lines().collect();
        let expected = [
            (' ', "a\n"),
            ('-', "b\n"),
            ('+', "x\n"),
            (' ', "c\n"),
            (' ', "d\n"),
            ('+', "e\n"),
        ];
        assert_eq!(lines, expected);
        assert_eq!(diff.counts(), (2, 1));
    }

    #[test]
    fn a_last_line_without_a_newline_is_another_line() {
        assert_eq!(LineDiff::new("a", "a\n").counts(), (1, 1));
        assert_eq!(LineDiff::new("", "a").counts(), (1, 0));
        assert_eq!(LineDiff::new("", "").counts(), (0, 0));
    }

    #[test]
    fn a_unified_diff_has_three_lines_of_context() {
        let diff = LineDiff::new("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\nsix");
        assert_eq!(diff.unified(), "@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n+six\n");
        assert_eq!(LineDiff::new("a", "a").unified(), "");
        assert_eq!(LineDiff::new("", "a\n").unified(), "@@ -0,0 +1,1 @@\n+a\n");
    }

    /// With a whole text diff, the same lines are counted.
    #[test]
    fn the_lines_are_those_of_a_text_diff() {
        let texts = ["", "a\nb\n", "b\na\nb\r\nc", "c\n\n\nb\na\n", "x\ry\nz"];
        for (old, new) in texts.iter().flat_map(|old| texts.map(|new| (*old, new))) {
            let diff = LineDiff::new(old, new);
            let text_diff = similar::TextDiff::from_lines(old, new);
            let expected = text_diff.iter_all_changes().map(|change| change.value());
            assert!(
                diff.lines().map(|(_, line)| line).eq(expected),
                "{old:?} {new:?}"
            );
        }
    }
}
