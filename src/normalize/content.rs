//! Content of a message -> blocks, tool calls and tool results.

use super::extra::Extra;
use super::tool_call::tool_use;
use super::unknown::Unknown;
use crate::json::{self, Json, Lenient, Raw};
use crate::record::{Block, Content, ContentOf, Part, PartContent, Source};
use crate::rows::{BlockRows, ContentBlock, Text, ToolResult};
use base64::Engine;
use sha2::{Digest, Sha256};

pub fn blocks<'a>(content: Content<'a>, unknown: &mut Unknown<'_, '_>) -> Vec<BlockRows<'a>> {
    match content {
        ContentOf::Text(text) => vec![text_block(text)],
        ContentOf::Blocks(list) => {
            let mut rows = Vec::with_capacity(list.len());
            for (position, element) in list.into_iter().enumerate() {
                let from = rows.len();
                match element {
                    Lenient::Is(block) => {
                        unknown.block(block.kind.as_deref());
                        push_block(block, &mut rows, unknown);
                    }
                    Lenient::Other(json) => rows.push(untyped_block(&json)),
                }
                for row in &mut rows[from..] {
                    row.block.position = position as i64;
                }
            }
            rows
        }
    }
}

/// The block of an element that is not an object. In old data it may be a string; its block has a text but no type.
fn untyped_block(json: &Json<'_>) -> BlockRows<'static> {
    let mut block = ContentBlock::default();
    match json::text(json.get()) {
        Some(text) => set_text(&mut block, Some(text.into_owned().into())),
        None => block.extra_json = Extra::from(json).finish().map(Into::into),
    }
    BlockRows {
        block,
        ..BlockRows::default()
    }
}

pub fn text_block(text: Text<'_>) -> BlockRows<'_> {
    BlockRows {
        block: ContentBlock {
            kind: Some("text".into()),
            byte_length: Some(text.len() as i64),
            text: Some(text),
            ..ContentBlock::default()
        },
        ..BlockRows::default()
    }
}

/// Counts the visible characters of a response: its text, its thinking and the inputs of its calls.
pub fn visible_chars(blocks: &[BlockRows<'_>]) -> i64 {
    let chars = |text: Option<&str>| text.map_or(0, |text| text.chars().count() as i64);
    let counts = blocks.iter().map(|row| {
        let input = row
            .tool_use
            .as_ref()
            .and_then(|call| call.input_json.as_deref());
        chars(row.block.text.as_deref()) + chars(input)
    });
    counts.sum()
}

/// Like [`visible_chars`], for content that does not become blocks.
pub fn visible_chars_of_content(content: &Content<'_>) -> i64 {
    let chars = |text: &str| text.chars().count() as i64;
    let chars_of = |element: &Lenient<'_, Block<'_>>| match element {
        Lenient::Is(block) => {
            let text = match block.kind.as_deref() {
                Some("thinking") => block.thinking.as_deref(),
                _ => block.text.as_deref(),
            };
            let input = block.input.filter(|_| is_call(block)).map(Raw::get);
            text.map_or(0, chars) + input.map_or(0, chars)
        }
        Lenient::Other(json) => json::text(json.get()).map_or(0, |text| chars(&text)),
    };
    match content {
        ContentOf::Text(text) => chars(text),
        ContentOf::Blocks(list) => list.iter().map(chars_of).sum(),
    }
}

/// A `tool_use` block without an id can have no result, and is a plain block.
fn is_call(block: &Block<'_>) -> bool {
    block.kind.as_deref() == Some("tool_use")
        && block.id.as_deref().is_some_and(|id| !id.is_empty())
}

fn push_block<'a>(block: Block<'a>, rows: &mut Vec<BlockRows<'a>>, unknown: &mut Unknown<'_, '_>) {
    let mut row = ContentBlock::default();
    let mut extra = Extra::default();
    let kind = block.kind.as_deref().unwrap_or_default();
    for (key, value) in &block.rest {
        // Only the API can read a signature, so only the archive keeps it.
        let is_signature = kind == "thinking" && key == "signature";
        if !(is_signature && value.get().starts_with('"')) {
            extra.push(key, value.get());
        }
    }
    let is_call = is_call(&block);
    let mut call = None;
    let mut tool_result = None;
    let mut parts = Vec::new();

    if kind == "thinking" {
        set_text(&mut row, block.thinking);
        extra.push_optional("text", block.text.as_deref());
    } else {
        set_text(&mut row, block.text);
        extra.push_optional("thinking", block.thinking.as_deref());
    }
    if is_call {
        call = Some(Box::new(tool_use(
            block.id.unwrap_or_default(),
            block.name,
            block.input.map(Raw::get),
        )));
    } else {
        extra.push_optional("id", block.id.as_deref());
        extra.push_optional("name", block.name.as_deref());
        if let Some(input) = block.input {
            extra.push("input", input.get());
        }
    }
    if kind == "tool_result" {
        let mut result = Box::new(ToolResult {
            source_tool_use_id: block.tool_use_id,
            is_error: block.is_error,
            ..ToolResult::default()
        });
        if let Some(content) = block.content {
            parts = result_content(content, &mut result, unknown);
        }
        tool_result = Some(result);
    } else {
        extra.push_optional("tool_use_id", block.tool_use_id.as_deref());
        if let Some(is_error) = block.is_error {
            extra.push("is_error", if is_error { "true" } else { "false" });
        }
        if let Some(content) = block.content {
            extra.push("content", &content_json(&content));
        }
    }
    if let Some(source) = block.source {
        set_source(&mut row, source, &mut extra);
    }
    row.kind = block.kind;
    row.extra_json = extra.finish().map(Into::into);
    rows.push(BlockRows {
        block: row,
        tool_use: call,
        tool_result,
        ..BlockRows::default()
    });
    rows.extend(parts);
}

fn set_text<'a>(row: &mut ContentBlock<'a>, text: Option<Text<'a>>) {
    row.byte_length = text.as_ref().map(|text| text.len() as i64);
    row.text = text;
}

/// Sets the text of a tool result. Each element of a list becomes a block without text: its byte length locates its text in that
/// of the result.
fn result_content<'a>(
    content: PartContent<'a>,
    result: &mut ToolResult<'a>,
    unknown: &mut Unknown<'_, '_>,
) -> Vec<BlockRows<'a>> {
    let mut parts = Vec::new();
    result.has_string_content = Some(matches!(content, ContentOf::Text(_)));
    let text = match content {
        ContentOf::Text(text) => Some(text),
        ContentOf::Blocks(list) => {
            let mut text: Option<Text<'a>> = None;
            for (index, element) in list.into_iter().enumerate() {
                let mut row = ContentBlock {
                    part_number: index as i64 + 1,
                    ..ContentBlock::default()
                };
                match element {
                    Lenient::Is(part) => {
                        unknown.block(part.kind.as_deref());
                        set_part(&mut row, part, &mut text);
                    }
                    Lenient::Other(json) => {
                        row.extra_json = Extra::from(&json).finish().map(Into::into);
                    }
                }
                parts.push(BlockRows {
                    block: row,
                    ..BlockRows::default()
                });
            }
            text
        }
    };
    result.byte_length = text.as_ref().map(|text| text.len() as i64);
    result.content = text;
    parts
}

fn set_part<'a>(row: &mut ContentBlock<'a>, part: Part<'a>, text: &mut Option<Text<'a>>) {
    let mut extra = Extra::from(&part.rest);
    if let Some(part_text) = part.text {
        row.byte_length = Some(part_text.len() as i64);
        match text {
            Some(text) => {
                let text = text.to_mut();
                text.push('\n');
                text.push_str(&part_text);
            }
            None => *text = Some(part_text),
        }
    }
    if let Some(source) = part.source {
        set_source(row, source, &mut extra);
    }
    row.kind = part.kind;
    row.extra_json = extra.finish().map(Into::into);
}

/// Records the type, size and hash of an image or document. Only the archive keeps its bytes.
fn set_source<'a>(row: &mut ContentBlock<'a>, source: Source<'a>, extra: &mut Extra) {
    let mut nested = Extra::from(&source.rest);
    row.media_type = source.media_type;
    if let Some(data) = source.data {
        let engine = base64::engine::general_purpose::STANDARD;
        let decoded = match source.kind.as_deref() {
            Some("base64") => engine.decode(data.as_bytes()).ok(),
            _ => None,
        };
        let bytes = decoded.as_deref().unwrap_or(data.as_bytes());
        row.byte_length = Some(bytes.len() as i64);
        row.content_hash = Some(Sha256::digest(bytes).into());
    }
    nested.push_optional("type", source.kind.as_deref());
    extra.push_object("source", nested);
}

/// The JSON of content in a block that is not a tool result.
fn content_json(content: &PartContent<'_>) -> String {
    let mut json = String::new();
    match content {
        ContentOf::Text(text) => json::push_string(&mut json, text),
        ContentOf::Blocks(list) => {
            json.push('[');
            for (index, element) in list.iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                match element {
                    Lenient::Is(part) => json.push_str(&part_json(part)),
                    Lenient::Other(other) => json.push_str(other.get()),
                }
            }
            json.push(']');
        }
    }
    json
}

fn part_json(part: &Part<'_>) -> String {
    let mut extra = Extra::default();
    extra.push_optional("type", part.kind.as_deref());
    extra.push_optional("text", part.text.as_deref());
    if let Some(source) = &part.source {
        let mut nested = Extra::default();
        nested.push_optional("type", source.kind.as_deref());
        nested.push_optional("media_type", source.media_type.as_deref());
        nested.push_optional("data", source.data.as_deref());
        nested.push_rest(&source.rest);
        extra.push_object("source", nested);
    }
    extra.push_rest(&part.rest);
    extra.finish().unwrap_or_else(|| "{}".to_string())
}
