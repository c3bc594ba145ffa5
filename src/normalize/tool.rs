//! Tool calls and what they returned.

use super::extra::Extra;
use crate::record::{Part, json_text, object, parse_object};
use crate::rows::ToolUse;
use serde_json::value::RawValue;

object! {
    /// The inputs that have a column, of whatever tool.
    pub struct Input {
        "command" => command: text,
        "file_path" => file_path: text,
        "notebook_path" => notebook_path: text,
        "path" => path: text,
        "pattern" => pattern: text,
        "url" => url: text,
        "query" => query: text,
        "description" => description: text,
        "subagent_type" => subagent_type: text,
        "skill" => skill: text,
    }
}

/// A tool call.
pub fn tool_use(id: &str, name: Option<&str>, input_json: Option<&str>) -> ToolUse {
    let input: Input = input_json
        .and_then(|json| parse_object(json).ok())
        .unwrap_or_default();
    ToolUse {
        tool_use_id: id.to_string(),
        name: name.map(str::to_string),
        mcp_server: name.and_then(mcp_server).map(str::to_string),
        command: input.command.map(Into::into),
        file_path: input
            .file_path
            .or(input.notebook_path)
            .or(input.path)
            .map(Into::into),
        pattern: input.pattern.map(Into::into),
        url: input.url.map(Into::into),
        query: input.query.map(Into::into),
        description: input.description.map(Into::into),
        subagent_type: input.subagent_type.map(Into::into),
        skill: input.skill.map(Into::into),
        input_json: input_json.map(str::to_string),
        ..ToolUse::default()
    }
}

object! {
    /// The keys of a tool call's block.
    pub struct Call {
        "name" => name: text,
        "input" => input: raw,
        "id" => id: text,
    }
}

/// A tool call as the JSON column of its block, with what the column holds already.
pub fn call_to_json(
    id: &str,
    name: Option<&str>,
    input: Option<&str>,
    extra_json: Option<&str>,
) -> Option<String> {
    let mut extra = Extra::default();
    let call: Call = extra_json
        .and_then(|json| parse_object(json).ok())
        .unwrap_or_default();
    extra.push_rest(&call.rest);
    extra.push_text("id", id);
    if let Some(name) = name {
        extra.push_text("name", name);
    }
    if let Some(input) = input {
        extra.push("input", input);
    }
    extra.finish()
}

/// The tool call in the JSON column of a block, and what else the column holds.
pub fn call_from_json(json: &str, id: &str) -> (ToolUse, Option<String>) {
    let call: Call = parse_object(json).unwrap_or_default();
    let mut rest = Extra::default();
    rest.push_rest(&call.rest);
    (
        tool_use(id, call.name.as_deref(), call.input.map(RawValue::get)),
        rest.finish(),
    )
}

/// The server of `mcp__<server>__<tool>`. It may hold single underscores.
fn mcp_server(name: &str) -> Option<&str> {
    let (server, _) = name.strip_prefix("mcp__")?.split_once("__")?;
    Some(server)
}

/// `toolUseResult` without what the text of the result already says, without whole files and without image bytes.
/// The archive has them.
pub fn details(raw: &RawValue, result: &str) -> Option<String> {
    let json = raw.get();
    match json.as_bytes().first() {
        Some(b'"') => {
            let text = json_text(json)?;
            (!repeats_error(&text, result)).then(|| json.to_string())
        }
        Some(b'{') => object_details(parse_object(json).ok()?, result),
        Some(b'[') => {
            let list: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            (!list.iter().all(|element| is_said(element.get(), result))).then(|| json.to_string())
        }
        _ => Some(json.to_string()),
    }
}

object! {
    /// The parts of `toolUseResult` that may be said elsewhere.
    pub struct Returned {
        "stdout" => stdout: long_text,
        "stderr" => stderr: long_text,
        /// A text (Grep, Write) or a list of blocks (Task).
        "content" => content: raw,
        "result" => result: long_text,
        /// Of Read.
        "file" => file: ReadFile,
        /// The whole file before the change.
        "originalFile" => original_file: long_text,
        "originalFileContents" => original_file_contents: long_text,
        "original_file" => original_notebook: long_text,
        "updated_file" => updated_notebook: long_text,
    }
}

object! {
    /// `file` of a Read result: its text is what the model was shown, with line numbers.
    pub struct ReadFile {
        "content" => content: long_text,
        "base64" => base64: long_text,
    }
}

fn object_details(returned: Returned<'_>, result: &str) -> Option<String> {
    let mut extra = Extra::default();
    extra.push_rest(&returned.rest);
    for (key, text) in [
        ("stdout", returned.stdout),
        ("stderr", returned.stderr),
        ("result", returned.result),
    ] {
        if let Some(text) = text
            && !repeats(&text, result)
        {
            extra.push_text(key, &text);
        }
    }
    if let Some(content) = returned.content {
        let is_said = match json_text(content.get()) {
            Some(text) => repeats(&text, result),
            None => match serde_json::from_str::<Vec<&RawValue>>(content.get()) {
                Ok(list) => list.iter().all(|element| is_said(element.get(), result)),
                Err(_) => false,
            },
        };
        if !is_said {
            extra.push("content", content.get());
        }
    }
    if let Some(file) = returned.file {
        let mut nested = Extra::default();
        nested.push_rest(&file.rest);
        extra.push_object("file", nested);
    }
    extra.finish()
}

/// Whether a text stands in the result. An empty one says nothing that could be lost, but stays as it is.
fn repeats(text: &str, result: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && (text == result || result.contains(text))
}

/// Whether an error text is the result's in other clothes: `Error: ...`, or without its `<tool_use_error>` tags.
fn repeats_error(text: &str, result: &str) -> bool {
    let bare = text.strip_prefix("Error: ").unwrap_or(text);
    repeats(text, result) || repeats(bare, result)
}

/// Whether a block is a text that stands in the result, or an image, whose bytes are archived.
fn is_said(block: &str, result: &str) -> bool {
    match parse_object::<Part>(block) {
        Ok(part) => match part.kind.as_deref() {
            Some("text") => part
                .text
                .is_some_and(|text| text.is_empty() || repeats(&text, result)),
            Some("image") => true,
            _ => false,
        },
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details_of(json: &str, result: &str) -> Option<String> {
        details(&RawValue::from_string(json.to_string()).unwrap(), result)
    }

    #[test]
    fn the_server_of_an_mcp_tool_ends_at_the_next_double_underscore() {
        assert_eq!(mcp_server("mcp__plugin_x_y__do_it"), Some("plugin_x_y"));
        assert_eq!(mcp_server("Bash"), None);
    }

    #[test]
    fn details_leave_out_what_the_result_says() {
        let json = r#"{"stdout":"a\nb\n","stderr":"","interrupted":false}"#;
        assert_eq!(
            details_of(json, "a\nb").unwrap(),
            r#"{"interrupted":false,"stderr":""}"#
        );
        assert_eq!(
            details_of(json, "saved elsewhere").unwrap(),
            r#"{"interrupted":false,"stdout":"a\nb\n","stderr":""}"#
        );
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
        assert_eq!(details_of(r#"[{"type":"text","text":"x"}]"#, "x"), None);
        assert_eq!(details_of("7", "x").unwrap(), "7");
    }
}
