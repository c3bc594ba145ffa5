//! Results of tool calls, and the structured result (`toolUseResult`) of the same record.

use super::change::{self, Change};
use super::entries;
use super::extra::Extra;
use super::outcome::{ResultFacts, outcome};
use super::truncate::truncate_str;
use crate::json::{self, Opened, Raw, parse_object};
use crate::record::{self, GREATEST_COUNT, Part, object};
use crate::rows::{BlockRows, GitOperation, ToolResult, WebRequest};
use std::borrow::Cow;

/// The fields of a record that describe its tool results.
#[derive(Default)]
pub struct ResultFields<'r, 'a> {
    /// `toolUseResult`: it belongs to the first result of the record.
    pub returned: Option<&'r Opened<'a>>,
    /// `toolDenialKind`
    pub denial_kind: Option<&'r str>,
    /// `userFeedback`
    pub feedback: Option<&'r str>,
}

/// Sets the outcomes of a record's results, and the columns that come from `toolUseResult`. Returns `toolUseResult` if the record
/// has no result that it could belong to.
pub fn complete_results<'r, 'a>(
    blocks: &mut [BlockRows<'a>],
    fields: &ResultFields<'r, 'a>,
) -> Option<&'r Opened<'a>> {
    let mut returned = fields.returned;
    for block in blocks.iter_mut() {
        if let Some(result) = &mut block.tool_result {
            let mut returned = Returned::new(returned.take());
            complete_result(result, fields, &returned);
            result.details_json = returned.details(result.content.as_deref().unwrap_or_default());
            block.git_operations = returned.git_operations();
            block.web_request = returned.web_request().map(Box::new);
        }
    }
    returned
}

fn complete_result<'a>(
    result: &mut ToolResult<'a>,
    fields: &ResultFields<'_, 'a>,
    returned: &Returned<'_, 'a>,
) {
    let content = result.content.as_deref().unwrap_or_default();
    let outcome = outcome(&ResultFacts {
        content,
        returned_text: returned.text.as_deref(),
        is_error: result.is_error == Some(true),
        denial_kind: fields.denial_kind,
        feedback: fields.feedback,
        is_interrupted: returned.flag("interrupted") == Some(true),
        is_timed_out: returned.count("timedOutAfterMs").is_some(),
        is_background: returned.text("backgroundTaskId").is_some()
            || returned.text("status").as_deref() == Some("async_launched"),
    });
    let change = match outcome.name {
        "ok" => returned.change(),
        _ => None,
    };
    // The files of agents have no structured results.
    let is_created = outcome.name == "ok"
        && change.is_none()
        && content.starts_with("File created successfully at: ");
    let path = returned
        .text("persistedOutputPath")
        .or_else(|| persisted_path(content).map(Cow::Borrowed));
    let name = path.as_deref().and_then(base_name);
    result.persisted_name = name.map(|name| name.to_string().into());
    result.persisted_bytes = returned.count("persistedOutputSize");
    result.agent_id = returned.text("agentId");
    result.workflow_id = returned.text("runId");
    result.background_task_id = returned.text("backgroundTaskId");
    result.duration_ms = returned.duration_ms();
    result.is_user_modified = returned.flag("userModified");
    result.is_staged = returned.flag("staged");
    result.is_kept_in_sandbox = returned.flag("keptInSandboxByCheck");
    result.outcome = outcome.name;
    result.denial_reason = outcome.denial_reason.map(Into::into);
    result.reply = returned.reply().map(Into::into);
    result.exit_code = outcome.exit_code;
    if is_created {
        result.change_kind = Some("create");
    }
    if let Some(change) = change {
        result.change_kind = Some(change.kind);
        result.changed_path = Some(change.path);
        result.lines_added = change.lines_added;
        result.lines_removed = change.lines_removed;
        result.line_count_source = change.source;
    }
}

/// The path in `<persisted-output>`, in both wordings.
fn persisted_path(content: &str) -> Option<&str> {
    let content = content.trim_start().strip_prefix("<persisted-output>")?;
    let (_, rest) = ["Full output saved to: ", "Tool result saved to: "]
        .iter()
        .find_map(|wording| content.split_once(wording))?;
    Some(
        rest.lines()
            .next()?
            .trim_end_matches("</persisted-output>")
            .trim(),
    )
}

/// The file name of a path, which may be a Windows path.
fn base_name(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\'])
        .next()
        .filter(|name| !name.is_empty() && *name != "." && *name != "..")
}

/// `toolUseResult`.
#[derive(Default)]
pub struct Returned<'r, 'a> {
    json: Option<&'a str>,
    /// If it is a string.
    text: Option<Cow<'a, str>>,
    /// If it is an object.
    entries: &'r [(Cow<'a, str>, Raw<'a>)],
}

impl<'r, 'a> Returned<'r, 'a> {
    pub fn new(opened: Option<&'r Opened<'a>>) -> Returned<'r, 'a> {
        let Some(opened) = opened else {
            return Returned::default();
        };
        Returned {
            json: Some(opened.json.get()),
            text: json::text(opened.json.get()),
            entries: &opened.entries,
        }
    }

    pub fn get(&self, key: &str) -> Option<&'a str> {
        let (_, json) = self.entries.iter().rev().find(|(name, _)| name == key)?;
        Some(json.get())
    }

    /// A string, unless it is empty.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)
            .and_then(json::text)
            .filter(|text| !text.is_empty())
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.get(key).and_then(json::flag)
    }

    fn count(&self, key: &str) -> Option<i64> {
        self.get(key).and_then(record::count)
    }

    fn duration_ms(&self) -> Option<i64> {
        let milliseconds = self
            .count("durationMs")
            .or_else(|| self.count("totalDurationMs"));
        milliseconds.or_else(|| {
            let seconds: f64 = self.get("durationSeconds")?.parse().ok()?;
            let milliseconds = (seconds * 1000.0).round();
            (0.0..=GREATEST_COUNT as f64)
                .contains(&milliseconds)
                .then_some(milliseconds as i64)
        })
    }

    /// What the person replied to questions: choices, notes on them, and free text.
    fn reply(&self) -> Option<String> {
        self.get("questions").or_else(|| self.get("answers"))?;
        let mut lines: Vec<Cow<'_, str>> = Vec::new();
        for (_, answer) in self.get("answers").map(entries).unwrap_or_default() {
            match json::text(answer) {
                Some(choice) => lines.push(choice),
                // Several choices.
                None => lines.extend(
                    json::list(answer)
                        .iter()
                        .flatten()
                        .filter_map(|choice| json::text(choice.get())),
                ),
            }
        }
        for (_, annotation) in self.get("annotations").map(entries).unwrap_or_default() {
            let annotation = entries(annotation);
            let notes = annotation.iter().filter(|(key, _)| key == "notes");
            lines.extend(notes.filter_map(|(_, notes)| json::text(notes)));
        }
        lines.extend(self.text("response"));
        let reply = lines.join("\n");
        (!reply.is_empty()).then(|| truncate_str(&reply).to_string())
    }

    fn change(&self) -> Option<Change<'a>> {
        change::from_result(self)
    }

    /// The structured result without whole files, image bytes and what repeats the text of the result or the input of the call.
    /// Only the archive keeps those.
    fn details(&mut self, result: &str) -> Option<Cow<'a, str>> {
        let json = self.json?;
        match json.as_bytes().first() {
            Some(b'"') => {
                // Free this copy before the next one is made: it may be long.
                let text = self.text.take();
                let is_repeated = text.is_some_and(|text| repeats_error(&text, result));
                (!is_repeated).then_some(Cow::Borrowed(json))
            }
            Some(b'[') => (!is_all_repeated(json, result)).then_some(Cow::Borrowed(json)),
            Some(b'{') => {
                let mut extra = Extra::default();
                let has_patch = self
                    .get("structuredPatch")
                    .is_some_and(|json| json.starts_with("[{"));
                let is_written = self.text("filePath").is_some()
                    && matches!(self.text("type").as_deref(), Some("create" | "update"))
                    && self.flag("userModified") != Some(true);
                for (key, value) in self.entries {
                    let value = value.get();
                    match key.as_ref() {
                        // The input has both strings, and the patch has the change.
                        "oldString" | "newString" if has_patch && value.starts_with('"') => {}
                        "content" if is_written && value.starts_with('"') => {}
                        "file" => match file_details(value) {
                            Some(file) => extra.push("file", &file),
                            None => extra.push("file", value),
                        },
                        key if is_archived(key, value, result) => {}
                        key => extra.push(key, value),
                    }
                }
                Some(extra.finish().map_or(Cow::Borrowed("{}"), Cow::Owned))
            }
            _ => Some(Cow::Borrowed(json)),
        }
    }

    fn git_operations(&self) -> Vec<GitOperation<'a>> {
        let operations = self.get("gitOperation").map(entries).unwrap_or_default();
        operations
            .iter()
            .filter_map(|(kind, json)| {
                let kind = ["commit", "push", "branch", "pr"]
                    .into_iter()
                    .find(|known| known == kind)?;
                let operation: Operation = parse_object(json).ok()?;
                Some(GitOperation {
                    kind,
                    action: operation.action.or(operation.kind),
                    branch: operation.branch.or(operation.reference),
                    commit_sha: operation.sha,
                    pr_number: operation.number,
                    pr_url: operation.url,
                    ..GitOperation::default()
                })
            })
            .collect()
    }

    fn web_request(&self) -> Option<WebRequest<'a>> {
        let kind = match (
            self.get("codeText"),
            self.get("searchCount"),
            self.get("results"),
        ) {
            (Some(_), _, _) => "fetch",
            (None, Some(_), _) => "search",
            (None, None, Some(_)) if self.get("durationSeconds").is_some() => "search",
            _ => return None,
        };
        Some(WebRequest {
            kind,
            url: self.text("url"),
            query: self.text("query"),
            status_code: self.count("code"),
            response_bytes: self.count("bytes"),
            search_count: self.count("searchCount"),
            duration_ms: self.duration_ms(),
            ..WebRequest::default()
        })
    }
}

object! {
    /// A part of `gitOperation`.
    pub struct Operation {
        "kind" => kind: text,
        "action" => action: text,
        "branch" => branch: text,
        "ref" => reference: text,
        "sha" => sha: text,
        "number" => number: count,
        "url" => url: text,
    }
}

/// Whether only the archive keeps a value: it is a whole file, or repeats the text of the result.
fn is_archived(key: &str, value: &str, result: &str) -> bool {
    match key {
        "originalFile" | "originalFileContents" | "original_file" | "updated_file" => {
            value.starts_with('"')
        }
        "stdout" | "stderr" | "result" | "content" => match json::text(value) {
            Some(text) => repeats(&text, result),
            None => value.starts_with('[') && is_all_repeated(value, result),
        },
        _ => false,
    }
}

/// `file` of a Read result without image bytes and without its text, which the result has with line numbers.
fn file_details(json: &str) -> Option<String> {
    if !json.starts_with('{') {
        return None;
    }
    let mut extra = Extra::default();
    for (key, value) in entries(json) {
        let is_archived = matches!(key.as_ref(), "content" | "base64") && value.starts_with('"');
        if !is_archived {
            extra.push(&key, value);
        }
    }
    Some(extra.finish().unwrap_or_else(|| "{}".to_string()))
}

/// Whether the result contains a string. An empty string is kept as it is.
fn repeats(text: &str, result: &str) -> bool {
    let text = text.trim();
    // Fast path: nearly every result starts with it.
    !text.is_empty() && (result.starts_with(text) || result.contains(text))
}

/// Whether an error message repeats the result, which may lack the prefix `Error: ` or have `<tool_use_error>` tags.
fn repeats_error(text: &str, result: &str) -> bool {
    let bare = text.strip_prefix("Error: ").unwrap_or(text);
    repeats(text, result) || repeats(bare, result)
}

/// Whether the result contains everything that a list of blocks does.
fn is_all_repeated(json: &str, result: &str) -> bool {
    let is_repeated = |block: &Raw<'_>| match parse_object::<Part>(block.get()) {
        Ok(part) => match part.kind.as_deref() {
            Some("text") => {
                part.rest.is_empty() && part.text.is_some_and(|text| repeats(&text, result))
            }
            Some("image") => part.rest.is_empty(),
            _ => false,
        },
        Err(_) => false,
    };
    match json::list(json) {
        Ok(list) => !list.is_empty() && list.iter().all(is_repeated),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    fn returned(json: &str, use_it: impl FnOnce(Returned<'_, '_>)) {
        let record = format!(r#"{{"toolUseResult":{json}}}"#);
        let record: Record = parse_object(&record).unwrap();
        use_it(Returned::new(record.tool_use_result.as_ref()));
    }

    fn details_of(json: &str, result: &str) -> Option<String> {
        let mut details = None;
        returned(json, |mut returned| {
            details = returned.details(result).map(Cow::into_owned);
        });
        details
    }

    #[test]
    fn details_omit_what_the_result_contains() {
        let json = r#"{"stdout":"a\nb\n","stderr":"","interrupted":false}"#;
        assert_eq!(
            details_of(json, "a\nb").unwrap(),
            r#"{"stderr":"","interrupted":false}"#
        );
        assert_eq!(details_of(json, "saved elsewhere").unwrap(), json);
        assert_eq!(details_of(r#""Error: Exit code 1""#, "Exit code 1"), None);
        assert_eq!(
            details_of(
                r#"{"type":"text","file":{"filePath":"/w/a","content":"x","numLines":1}}"#,
                "1\tx"
            )
            .unwrap(),
            r#"{"type":"text","file":{"filePath":"/w/a","numLines":1}}"#
        );
        assert_eq!(
            details_of(r#"{"filePath":"/w/a","originalFile":"all of it"}"#, "done").unwrap(),
            r#"{"filePath":"/w/a"}"#
        );
        assert_eq!(
            details_of(r#"{"originalFile":null}"#, "done").unwrap(),
            r#"{"originalFile":null}"#
        );
        let edit = r#"{"oldString":"a","newString":"b","structuredPatch":[{"lines":["-a","+b"]}]}"#;
        assert_eq!(
            details_of(edit, "done").unwrap(),
            r#"{"structuredPatch":[{"lines":["-a","+b"]}]}"#
        );
        let without_patch = r#"{"oldString":"a","newString":"b","structuredPatch":[]}"#;
        assert_eq!(details_of(without_patch, "done").unwrap(), without_patch);
        let written = r#"{"type":"create","filePath":"/w/a","content":"all of it"}"#;
        assert_eq!(
            details_of(written, "done").unwrap(),
            r#"{"type":"create","filePath":"/w/a"}"#
        );
        let modified =
            r#"{"type":"create","filePath":"/w/a","content":"theirs","userModified":true}"#;
        assert_eq!(details_of(modified, "done").unwrap(), modified);
        assert_eq!(details_of(r#"[{"type":"text","text":"x"}]"#, "x"), None);
        assert_eq!(details_of("7", "x").unwrap(), "7");
    }

    #[test]
    fn a_persisted_output_has_the_file_name_of_its_path() {
        for content in [
            "<persisted-output>\nOutput too large (1KB). Full output saved to: /a/b/tool-results/x1.txt\n\nPreview",
            "<persisted-output>Tool result saved to: C:\\a\\tool-results\\x1.txt\n\nUse Read to view</persisted-output>",
        ] {
            assert_eq!(
                persisted_path(content).and_then(base_name),
                Some("x1.txt"),
                "{content}"
            );
        }
        assert_eq!(base_name("/a/.."), None);
    }

    #[test]
    fn git_operations_and_web_requests_are_found() {
        let json = r#"{"gitOperation":{"commit":{"sha":"abc","kind":"amended","branch":"main"},"pr":{"number":7,"url":"u","action":"created"}}}"#;
        returned(json, |returned| {
            let operations = returned.git_operations();
            assert_eq!(operations.len(), 2);
            assert_eq!(operations[0].commit_sha.as_deref(), Some("abc"));
            assert_eq!(operations[1].pr_number, Some(7));
        });
        returned(
            r#"{"bytes":9,"code":404,"codeText":"Not Found","result":"","durationMs":3,"url":"u"}"#,
            |returned| {
                let request = returned.web_request().unwrap();
                assert_eq!(
                    (request.kind, request.status_code, request.duration_ms),
                    ("fetch", Some(404), Some(3))
                );
            },
        );
        returned(
            r#"{"query":"q","results":[],"durationSeconds":1.5,"searchCount":2}"#,
            |returned| {
                let request = returned.web_request().unwrap();
                assert_eq!(
                    (request.kind, request.search_count, request.duration_ms),
                    ("search", Some(2), Some(1500))
                );
            },
        );
    }
}
