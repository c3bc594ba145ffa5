//! Tool calls.

use super::change;
use super::extra::Extra;
use super::truncate::truncate;
use crate::json::{Raw, parse_object};
use crate::record::object;
use crate::rows::ToolUse;
use std::borrow::Cow;

object! {
    /// The inputs that have a column, of all tools.
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
        /// Of `ProposeGoal`, which is `SetGoal` since 2.1.327.
        "condition" => condition: text,
    }
}

pub fn tool_use<'a>(
    tool_use_id: Cow<'a, str>,
    name: Option<Cow<'a, str>>,
    input_json: Option<&'a str>,
) -> ToolUse<'a> {
    let input: Input = input_json
        .and_then(|json| parse_object(json).ok())
        .unwrap_or_default();
    let change = name
        .as_deref()
        .zip(input_json)
        .and_then(|(name, json)| change::from_input(name, json));
    let mcp_server = name.as_deref().and_then(mcp_server);
    let goal = input
        .condition
        .filter(|_| matches!(name.as_deref(), Some("ProposeGoal" | "SetGoal")));
    ToolUse {
        mcp_server: mcp_server.map(|server| server.to_string().into()),
        tool_use_id,
        name,
        command: input.command.map(truncate),
        file_path: input
            .file_path
            .or(input.notebook_path)
            .or(input.path)
            .map(truncate),
        pattern: input.pattern.map(truncate),
        url: input.url.map(truncate),
        query: input.query.map(truncate),
        description: input.description.or(goal).map(truncate),
        subagent_type: input.subagent_type.map(truncate),
        skill: input.skill.map(truncate),
        change_kind: change.as_ref().map(|change| change.kind),
        input_json: input_json.map(Cow::Borrowed),
        input_lines_added: change.as_ref().and_then(|change| change.lines_added),
        input_lines_removed: change.as_ref().and_then(|change| change.lines_removed),
        ..ToolUse::default()
    }
}

object! {
    /// A `tool_use` block.
    pub struct Call {
        "name" => name: text,
        "input" => input: raw,
        "id" => id: text,
    }
}

/// Adds a tool call to the `extra_json` of its block.
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

/// Extracts the tool call from the `extra_json` of a block. Also returns the rest of the column.
pub fn call_from_json<'a>(json: &'a str, id: &'a str) -> (ToolUse<'a>, Option<String>) {
    let call: Call = parse_object(json).unwrap_or_default();
    let input = call.input.map(Raw::get);
    (
        tool_use(id.into(), call.name, input),
        Extra::from(&call.rest).finish(),
    )
}

/// The server of `mcp__<server>__<tool>`. Its name may contain single underscores.
fn mcp_server(name: &str) -> Option<&str> {
    let (server, _) = name.strip_prefix("mcp__")?.split_once("__")?;
    Some(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_of_an_mcp_tool_ends_at_the_next_double_underscore() {
        assert_eq!(mcp_server("mcp__plugin_x_y__do_it"), Some("plugin_x_y"));
        assert_eq!(mcp_server("Bash"), None);
    }
}
