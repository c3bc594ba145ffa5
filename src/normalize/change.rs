//! File changes: how many lines a tool call added to a file and removed from it.

use super::tool_result::Returned;
use crate::json::{self, NotJson, Reader, parse_object};
use crate::line_diff::LineDiff;
use crate::record::object;
use std::borrow::Cow;

#[derive(Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// create, update, edit or notebook.
    pub kind: &'static str,
    pub path: Cow<'a, str>,
    pub lines_added: Option<i64>,
    pub lines_removed: Option<i64>,
    /// How the lines were counted: patch, content, git_diff or strings.
    pub source: Option<&'static str>,
}

object! {
    /// The inputs of the tools that change files.
    pub struct Input {
        "file_path" => file_path: text,
        "notebook_path" => notebook_path: text,
        "content" => content: long_text,
        "old_string" => old: long_text,
        "new_string" => new: long_text,
        "new_source" => new_source: long_text,
        "edits" => edits: raw,
    }
}

object! {
    /// An element of `edits`.
    pub struct Edit {
        "old_string" => old: long_text,
        "new_string" => new: long_text,
    }
}

/// The change that the input of a call requests.
pub fn from_input<'a>(tool: &str, json: &'a str) -> Option<Change<'a>> {
    let kind = match tool {
        "Write" => "update",
        "Edit" | "MultiEdit" => "edit",
        "NotebookEdit" => "notebook",
        _ => return None,
    };
    let input: Input = parse_object(json).ok()?;
    let path = input.file_path.or(input.notebook_path)?;
    let counts = match tool {
        // The previous content is unknown.
        "Write" => input
            .content
            .map(|content| (Some(count_lines(&content)), None)),
        "Edit" => input
            .old
            .zip(input.new)
            .map(|(old, new)| some(diff(&old, &new))),
        "MultiEdit" => input.edits.map(|edits| some(sum_of_edits(edits.get()))),
        _ => input
            .new_source
            .map(|source| (Some(count_lines(&source)), None)),
    };
    let (lines_added, lines_removed) = counts.unwrap_or((None, None));
    Some(Change {
        kind,
        path,
        lines_added,
        lines_removed,
        source: None,
    })
}

fn some((added, removed): (i64, i64)) -> (Option<i64>, Option<i64>) {
    (Some(added), Some(removed))
}

fn sum_of_edits(json: &str) -> (i64, i64) {
    let edits = json::list(json).unwrap_or_default();
    edits.iter().fold((0, 0), |(added, removed), edit| {
        let edit: Edit = parse_object(edit.get()).unwrap_or_default();
        let (edit_added, edit_removed) =
            diff(&edit.old.unwrap_or_default(), &edit.new.unwrap_or_default());
        (added + edit_added, removed + edit_removed)
    })
}

/// The change that a result reports. Lines are counted in its patch, else in the content of a new file, else in the git diff, else
/// in the replaced strings.
pub fn from_result<'a>(returned: &Returned<'_, 'a>) -> Option<Change<'a>> {
    if returned.get("notebook_path").is_some() || returned.get("new_source").is_some() {
        return from_notebook(returned);
    }
    let path = returned.text("filePath")?;
    let written = returned.text("type");
    let old = returned.get("oldString").and_then(json::text);
    let new = returned.get("newString").and_then(json::text);
    let kind = match written.as_deref() {
        Some("create") => "create",
        Some("update") => "update",
        // Only Edit and MultiEdit report what they replaced.
        _ if old.is_some() || returned.get("edits").is_some() => "edit",
        _ if returned.get("structuredPatch").is_some() => "update",
        _ => return None,
    };
    let counts = count_result(returned, kind, old.zip(new));
    Some(Change {
        kind,
        path,
        lines_added: counts.map(|(added, _, _)| added),
        lines_removed: counts.map(|(_, removed, _)| removed),
        source: counts.map(|(_, _, source)| source),
    })
}

/// The lines added and removed, and what they were counted in.
fn count_result(
    returned: &Returned<'_, '_>,
    kind: &str,
    strings: Option<(Cow<'_, str>, Cow<'_, str>)>,
) -> Option<(i64, i64, &'static str)> {
    if returned.get("staged").and_then(json::flag) == Some(true) {
        return Some((0, 0, "patch"));
    }
    if let Some((added, removed)) = returned.get("structuredPatch").and_then(count_patch) {
        return Some((added, removed, "patch"));
    }
    if kind == "create" {
        let content = json::text(returned.get("content")?)?;
        return Some((count_lines(&content), 0, "content"));
    }
    if let Some((added, removed)) = returned.get("gitDiff").and_then(count_git_diff) {
        return Some((added, removed, "git_diff"));
    }
    let (old, new) = strings?;
    let (added, removed) = diff(&old, &new);
    let times = occurrences(returned, &old);
    Some((added * times, removed * times, "strings"))
}

fn from_notebook<'a>(returned: &Returned<'_, 'a>) -> Option<Change<'a>> {
    let path = returned.text("notebook_path").unwrap_or(Cow::Borrowed(""));
    let new = returned
        .get("new_source")
        .and_then(json::text)
        .unwrap_or_default();
    let old = returned.get("old_source").and_then(json::text);
    let (added, removed) = match (returned.text("edit_mode").as_deref(), &old) {
        (Some("delete"), Some(old)) => (Some(0), Some(count_lines(old))),
        (Some("insert"), _) => (Some(count_lines(&new)), Some(0)),
        (_, Some(old)) => some(diff(old, &new)),
        _ => (None, None),
    };
    Some(Change {
        kind: "notebook",
        path,
        lines_added: added,
        lines_removed: removed,
        source: added.map(|_| "strings"),
    })
}

/// The lines added and removed by a patch. An empty patch is unknown and not zero.
fn count_patch(json: &str) -> Option<(i64, i64)> {
    let mut sum = None;
    let mut reader = Reader::new(json);
    let read = reader.list(|reader| {
        let (hunk_added, hunk_removed) = count_hunk(reader)?;
        let (added, removed) = sum.unwrap_or((0, 0));
        sum = Some((added + hunk_added, removed + hunk_removed));
        Ok(())
    });
    read.ok()?;
    sum
}

/// A hunk of `structuredPatch`: its lines begin with a blank, `+`, `-` or a backslash.
fn count_hunk(reader: &mut Reader<'_>) -> Result<(i64, i64), NotJson> {
    let mut counts = None;
    reader.object(|reader, key| {
        if key != "lines" || reader.peek() != Some(b'[') {
            reader.raw()?;
            return Ok(());
        }
        let (mut added, mut removed) = (0, 0);
        reader.list(|reader| {
            match reader.raw()?.get().as_bytes().get(1) {
                Some(b'+') => added += 1,
                Some(b'-') => removed += 1,
                _ => {}
            }
            Ok(())
        })?;
        counts = Some((added, removed));
        Ok(())
    })?;
    counts.ok_or(NotJson)
}

object! {
    pub struct GitDiff {
        "additions" => additions: count,
        "deletions" => deletions: count,
    }
}

fn count_git_diff(json: &str) -> Option<(i64, i64)> {
    let diff: GitDiff = parse_object(json).ok()?;
    Some((diff.additions?, diff.deletions?))
}

/// How many replacements an edit made. Only `replaceAll` makes more than one.
fn occurrences(returned: &Returned<'_, '_>, old: &str) -> i64 {
    let replaces_all = returned.get("replaceAll").and_then(json::flag) == Some(true);
    match returned.get("originalFile").and_then(json::text) {
        Some(original) if replaces_all && !old.is_empty() => {
            (original.matches(old).count() as i64).max(1)
        }
        _ => 1,
    }
}

/// A final newline does not start another line.
fn count_lines(text: &str) -> i64 {
    text.lines().count() as i64
}

/// How many lines were added and how many removed.
fn diff(old: &str, new: &str) -> (i64, i64) {
    LineDiff::new(old, new).counts()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    fn counts(json: &str) -> (&'static str, Option<i64>, Option<i64>, Option<&'static str>) {
        let record = format!(r#"{{"toolUseResult":{json}}}"#);
        let record: Record = parse_object(&record).unwrap();
        let change = from_result(&Returned::new(record.tool_use_result.as_ref())).unwrap();
        (
            change.kind,
            change.lines_added,
            change.lines_removed,
            change.source,
        )
    }

    #[test]
    fn a_patch_counts_its_plus_and_minus_lines() {
        let json = r#"{"filePath":"/w/a","oldString":"x","newString":"y","structuredPatch":[{"lines":[" a","-b","+c","+d","\\ No newline"]}]}"#;
        assert_eq!(counts(json), ("edit", Some(2), Some(1), Some("patch")));
    }

    #[test]
    fn a_final_newline_of_a_new_file_is_not_a_line() {
        let json = r#"{"type":"create","filePath":"/w/a","content":"a\nb\n","structuredPatch":[]}"#;
        assert_eq!(counts(json), ("create", Some(2), Some(0), Some("content")));
    }

    #[test]
    fn without_a_patch_the_git_diff_or_the_strings_are_counted() {
        let json = r#"{"type":"update","filePath":"/w/a","structuredPatch":[],"gitDiff":{"additions":5,"deletions":4}}"#;
        assert_eq!(counts(json), ("update", Some(5), Some(4), Some("git_diff")));
        let json = r#"{"filePath":"/w/a","oldString":"a","newString":"b\nc","structuredPatch":[],"replaceAll":true,"originalFile":"a\na\n"}"#;
        assert_eq!(counts(json), ("edit", Some(4), Some(2), Some("strings")));
        let json = r#"{"type":"update","filePath":"/w/a","structuredPatch":[]}"#;
        assert_eq!(counts(json), ("update", None, None, None));
    }

    #[test]
    fn a_staged_edit_counts_nothing() {
        let json = r#"{"filePath":"/w/a","oldString":"x","newString":"y","staged":true,"structuredPatch":[{"lines":["+c"]}]}"#;
        assert_eq!(counts(json), ("edit", Some(0), Some(0), Some("patch")));
    }

    #[test]
    fn the_input_has_its_own_counts() {
        let change = from_input(
            "Edit",
            r#"{"file_path":"/w/a","old_string":"a\nb","new_string":"a\nc\nd"}"#,
        )
        .unwrap();
        assert_eq!(
            (change.kind, change.lines_added, change.lines_removed),
            ("edit", Some(2), Some(1))
        );
        let change = from_input("MultiEdit", r#"{"file_path":"/w/a","edits":[{"old_string":"a","new_string":"b"},{"old_string":"","new_string":"c"}]}"#).unwrap();
        assert_eq!(
            (change.lines_added, change.lines_removed),
            (Some(2), Some(1))
        );
        assert_eq!(from_input("Bash", "{}"), None);
    }
}
