//! Copies of a message: further lines with the same uuid, as resuming and forking a session write them.

use super::Entries;
use super::extra::Extra;
use crate::json::{self, Lenient, Raw, Rest, parse_object};
use crate::record::{Content, ContentOf, Record};
use crate::rows::{BlockRows, Usage};
use xxhash_rust::xxh3::Xxh3;

/// The JSON that is stored for a copy: its line, without the content unless that is different from the message's.
pub fn copy_json(line: &[u8], is_different: bool) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let json = json::repair_escapes(&text);
    let entries: Entries = parse_object(&json).ok()?;
    let mut copy = Extra::default();
    for (key, value) in &entries.rest {
        if is_different || !CONTENT_KEYS.contains(&key.as_ref()) {
            copy.push(key, value.get());
        }
    }
    copy.finish()
}

/// The keys of the content. All of them are hashed.
const CONTENT_KEYS: &[&str] = &[
    "message",
    "toolUseResult",
    "attachment",
    "data",
    "content",
    "planContent",
    "todos",
    "rendered",
    "compactMetadata",
];

/// Hashes the content of a message, without the envelope that copies change. The hash is fast and not cryptographic: whoever
/// could write colliding messages can only harm their own database.
pub struct ContentHash(Xxh3);

/// Keys that differ between copies.
const COPY_KEYS: &[&str] = &["agentColor", "isTeammate"];

impl ContentHash {
    pub fn new(record: &Record<'_>) -> Self {
        let mut hash = ContentHash(Xxh3::new());
        hash.text(record.kind.as_deref());
        hash.text(record.subtype.as_deref());
        hash.text(record.content.as_deref());
        for raw in [
            record.attachment,
            record.data,
            record
                .tool_use_result
                .as_ref()
                .map(|returned| returned.json),
            record.plan_content,
        ] {
            hash.text(raw.map(Raw::get));
        }
        for text in [
            &record.error,
            &record.tool_denial_kind,
            &record.user_feedback,
            &record.source_tool_use_id,
        ] {
            hash.text(text.as_deref());
        }
        hash.rest(&record.rest);
        if let Some(message) = &record.message {
            hash.text(message.id.as_deref());
            hash.text(message.role.as_deref());
            hash.text(message.model.as_deref());
            hash.text(message.stop_reason.as_deref());
        }
        hash
    }

    pub fn rest(&mut self, rest: &Rest<'_>) {
        for (key, json) in rest
            .iter()
            .filter(|(key, _)| !COPY_KEYS.contains(&key.as_ref()))
        {
            self.text(Some(key));
            self.text(Some(json.get()));
        }
    }

    /// Signatures have no column, but copies may differ in them.
    pub fn signatures(&mut self, content: &Content<'_>) {
        let ContentOf::Blocks(list) = content else {
            return;
        };
        for element in list {
            if let Lenient::Is(block) = element {
                let signature = block.rest.iter().find(|(key, _)| key == "signature");
                self.text(signature.map(|(_, json)| json.get()));
            }
        }
    }

    pub fn usage(&mut self, usage: Option<&Usage<'_>>) {
        let Some(Usage { line, .. }) = usage else {
            return;
        };
        for text in [
            &line.service_tier,
            &line.speed,
            &line.inference_geo,
            &line.extra_json,
        ] {
            self.text(text.as_deref());
        }
        for number in [
            line.input_tokens,
            line.output_tokens,
            line.cache_write_tokens,
            line.cache_write_5m_tokens,
            line.cache_write_1h_tokens,
            line.cache_read_tokens,
            line.thinking_tokens,
            line.web_search_count,
        ] {
            self.0.update(&number.unwrap_or(-1).to_le_bytes());
        }
    }

    pub fn blocks(&mut self, rows: &[BlockRows<'_>]) {
        for row in rows {
            let block = &row.block;
            self.text(block.kind.as_deref());
            self.text(block.text.as_deref());
            self.text(block.extra_json.as_deref());
            self.bytes(block.content_hash.as_ref().map(<[u8; 32]>::as_slice));
            if let Some(tool_use) = &row.tool_use {
                self.text(Some(&tool_use.tool_use_id));
                self.text(tool_use.name.as_deref());
                self.text(tool_use.input_json.as_deref());
            }
            if let Some(result) = &row.tool_result {
                self.text(result.source_tool_use_id.as_deref());
                self.text(result.content.as_deref());
            }
        }
    }

    fn text(&mut self, text: Option<&str>) {
        self.bytes(text.map(str::as_bytes));
    }

    /// The length separates a value from the next one.
    fn bytes(&mut self, bytes: Option<&[u8]>) {
        let length = bytes.map_or(u64::MAX, |bytes| bytes.len() as u64);
        self.0.update(&length.to_le_bytes());
        if let Some(bytes) = bytes {
            self.0.update(bytes);
        }
    }

    pub fn finish(self) -> [u8; 16] {
        self.0.digest128().to_be_bytes()
    }
}
