//! Lines of `history.jsonl` -> prompts with their pastes.

use super::extra::Extra;
use super::prompt::classify_typed;
use super::unknown::Unknown;
use super::{Entries, Position};
use crate::json::parse_object;
use crate::record::{HistoryLine, kinds, object};
use crate::rows::{HistoryPrompt, HistoryRows, PastedContent, UnknownKind};
use crate::timestamp;

pub fn history_prompt<'a>(
    json: &'a str,
    position: Position,
    unknown_kinds: &mut Vec<UnknownKind>,
) -> HistoryRows<'a> {
    let line: HistoryLine = parse_object(json).unwrap_or_default();
    let mut unknown = Unknown {
        found: unknown_kinds,
        version: None,
        position,
    };
    let mut extra = Extra::default();
    let mut pasted_contents = Vec::new();
    for (key, value) in &line.rest {
        if !kinds::is_known_history_key(key) {
            unknown.note("key", format!("history.{key}"));
        }
        let pasted = value.raw().filter(|_| key == "pastedContents");
        match pasted.and_then(|raw| parse_pastes(raw.get())) {
            Some(pasted) => pasted_contents = pasted,
            _ => extra.push(key, value.get()),
        }
    }
    let prompted_at = line.timestamp.and_then(timestamp::from_milliseconds);
    if let (None, Some(number)) = (&prompted_at, line.timestamp) {
        extra.push("timestamp", &number.to_string());
    }
    // A line without a text says nothing.
    let prompt = line
        .display
        .as_deref()
        .map(classify_typed)
        .filter(|prompt| prompt.machine.as_deref() != Some("empty"));
    let (prompt_kind, command_name, command_arguments) = match prompt {
        Some(prompt) => (
            Some(prompt.kind),
            prompt.command_name,
            prompt.command_arguments,
        ),
        None => (None, None, None),
    };
    HistoryRows {
        prompt: HistoryPrompt {
            prompt_kind,
            command_name: command_name.map(Into::into),
            command_arguments: command_arguments.map(Into::into),
            line_number: position.line_number,
            byte_offset: position.byte_offset,
            session_id: line.session_id,
            project_path: line.project,
            display: line.display,
            extra_json: extra.finish().map(Into::into),
            prompted_at: prompted_at.map(Into::into),
            ..HistoryPrompt::default()
        },
        pasted_contents,
    }
}

/// Parses `pastedContents`: `{"1": {"id": 1, "type": "text", "content": "..."}}`
fn parse_pastes(json: &str) -> Option<Vec<PastedContent<'_>>> {
    let pastes: Entries = parse_object(json).ok()?;
    let mut rows = Vec::new();
    for (number, value) in &pastes.rest {
        let paste: PasteEntry = parse_object(value.raw()?.get()).ok()?;
        rows.push(PastedContent {
            paste_number: number.parse().ok()?,
            kind: paste.kind,
            content: paste.content,
            cache_name: paste.content_hash,
            media_type: paste.media_type,
            extra_json: Extra::from(&paste.rest).finish().map(Into::into),
            ..PastedContent::default()
        });
    }
    rows.sort_by_key(|row| row.paste_number);
    rows.dedup_by_key(|row| row.paste_number);
    Some(rows)
}

object! {
    /// A value of `pastedContents`: a short string inline, a long one in `paste-cache/`, or an image without its bytes.
    pub struct PasteEntry {
        "type" => kind: text,
        "content" => content: long_text,
        "contentHash" => content_hash: text,
        "mediaType" => media_type: text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_is_inline_or_in_the_cache_or_an_image() {
        let rows = parse_pastes(
            r#"{"2":{"id":2,"type":"text","contentHash":"a4834933d8c8586f"},"1":{"id":1,"type":"text","content":"x"},"3":{"id":3,"type":"image","mediaType":"image/png"}}"#,
        )
        .unwrap();
        assert_eq!(rows[0].content.as_deref(), Some("x"));
        assert_eq!(rows[1].cache_name.as_deref(), Some("a4834933d8c8586f"));
        assert_eq!(rows[2].media_type.as_deref(), Some("image/png"));
        assert!(parse_pastes("[]").is_none());
    }
}
