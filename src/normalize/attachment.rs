//! Attachment records: what Claude Code adds to a conversation, such as queued prompts.

use super::content;
use super::extra::Extra;
use super::message::set_subtype;
use super::prompt::PromptContext;
use super::unknown::Unknown;
use crate::json::{self, Raw, parse_object};
use crate::record::{Content, ContentOf, object};
use crate::rows::{BlockRows, Message};
use std::borrow::Cow;

object! {
    pub struct Attachment {
        "type" => kind: text,
        /// Of `queued_command`: what the person typed meanwhile, or the result of a sub-agent.
        "prompt" => prompt: Content,
        "commandMode" => command_mode: raw,
        "origin" => origin: raw,
        "isMeta" => is_meta: raw,
    }
}

pub fn attachment<'a>(
    raw: Raw<'a>,
    message: &mut Message<'a>,
    blocks: &mut Vec<BlockRows<'a>>,
    context: &mut PromptContext<'a>,
    extra: &mut Extra,
    unknown: &mut Unknown<'_, '_>,
) {
    let (Ok(attachment), true) = (parse_object::<Attachment>(raw.get()), blocks.is_empty()) else {
        extra.push("attachment", raw.get());
        return;
    };
    let mut rest = Extra::default();
    if let Some(prompt) = attachment.prompt {
        message.has_string_content = Some(matches!(prompt, ContentOf::Text(_)));
        *blocks = content::blocks(prompt, unknown);
    }
    for (key, raw) in [
        ("commandMode", attachment.command_mode),
        ("origin", attachment.origin),
        ("isMeta", attachment.is_meta),
    ] {
        if let Some(raw) = raw {
            rest.push(key, raw.get());
        }
    }
    rest.push_rest(&attachment.rest);
    context.is_queued_command = attachment.kind.as_deref() == Some("queued_command");
    context.command_mode = attachment
        .command_mode
        .and_then(|raw| borrowed_text(raw.get()));
    context.origin = attachment.origin.and_then(|raw| origin_kind(raw.get()));
    context.is_meta |= attachment.is_meta.is_some_and(|raw| raw.get() == "true");
    set_subtype(message, attachment.kind, &mut rest);
    extra.push_object("attachment", rest);
}

/// A string without escapes, which can be borrowed.
fn borrowed_text(json: &str) -> Option<&str> {
    match json::text(json)? {
        Cow::Borrowed(text) => Some(text),
        Cow::Owned(_) => None,
    }
}

fn origin_kind(json: &str) -> Option<&str> {
    let origin: crate::record::Origin = parse_object(json).ok()?;
    match origin.kind? {
        Cow::Borrowed(kind) => Some(kind),
        Cow::Owned(_) => None,
    }
}
