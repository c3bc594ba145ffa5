//! A chain record -> a message with its blocks, its agent and its usage.

use super::extra::Extra;
use super::unknown::Unknown;
use super::{Position, content, tool, usage};
use crate::discover::{Kind, Layout, Place};
use crate::record::{
    Content, ContentOf, Message as EchoMessage, Record, Rest, json_number, json_text, object,
    parse_object,
};
use crate::rows::{Agent, BlockRows, Message, MessageRows, UnknownKind, Usage};
use crate::timestamp;
use serde_json::value::RawValue;

/// The message of a chain record.
pub fn message(
    mut record: Record<'_>,
    position: Position,
    place: &Place,
    unknown_kinds: &mut Vec<UnknownKind>,
) -> MessageRows {
    let mut unknown = Unknown {
        found: unknown_kinds,
        version: record.version.as_deref().map(str::to_string),
        position,
    };
    unknown.record(record.kind.as_deref(), &record.rest);

    let mut extra = Extra::default();
    let mut hash = ContentHash::new(&record);
    let mut message = envelope(&mut record, position, place, &mut extra);
    let agent = agent(&record, &message, place);
    let mut blocks = Vec::new();
    let mut usage = None;

    if let Some(mut inner) = record.message.take() {
        usage = usage::usage(&mut inner, &message.uuid);
        message.role = inner.role.take().map(Into::into);
        message.model = inner.model.take().map(Into::into);
        message.stop_reason = inner.stop_reason.take().map(Into::into);
        if let Some(content) = inner.content.take() {
            message.has_string_content = Some(matches!(content, ContentOf::Text(_)));
            blocks = content::blocks(content, &mut unknown);
        }
        let mut rest = Extra::default();
        rest.push_rest(&inner.rest);
        if usage.is_none() {
            push_text(&mut rest, "id", inner.id.as_deref());
        }
        extra.push_object("message", rest);
    }
    match record.content.take() {
        Some(text) if blocks.is_empty() => blocks.push(content::text_block(text.into_owned())),
        Some(text) => extra.push_text("content", &text),
        None => {}
    }
    if let Some(raw) = record.attachment {
        attachment(raw, &mut message, &mut blocks, &mut extra, &mut unknown);
    }
    if let Some(raw) = record.data {
        usage = progress(raw, &mut message, &mut extra).or(usage);
    }
    if let Some(raw) = record.tool_use_result {
        tool_use_result(raw, &mut blocks, &mut extra);
    }
    extra.push_rest(&record.rest);

    if let Some(usage) = &mut usage {
        usage.line.request_id = usage
            .line
            .request_id
            .take()
            .or_else(|| message.request_id.clone());
        usage.line.session_id = message.session_id.clone();
        usage.line.is_sidechain |= message.is_sidechain == Some(true);
        usage.line.is_fork = message.forked_from_session_id.is_some();
        usage.line.sent_at = usage
            .line
            .sent_at
            .take()
            .or_else(|| message.sent_at.clone());
        if let (Some(agent), Some(session_id)) = (&mut usage.agent, &message.session_id) {
            agent.session_id.clone_from(session_id);
        }
    }
    hash.blocks(&blocks);
    message.content_hash = hash.finish();
    message.extra_json = extra.finish();
    MessageRows {
        message,
        agent,
        blocks,
        usage,
    }
}

/// The columns that all chain records share.
fn envelope(
    record: &mut Record<'_>,
    position: Position,
    place: &Place,
    extra: &mut Extra,
) -> Message {
    let sent_at = record
        .timestamp
        .and_then(|raw| moment(raw, "timestamp", extra));
    let mut forked_from_session_id = None;
    if let Some(fork) = record.forked_from.take() {
        let mut rest = Extra::default();
        rest.push_rest(&fork.rest);
        extra.push_object("forkedFrom", rest);
        forked_from_session_id = fork.session_id.map(Into::into);
    }
    if let Some(raw) = record.origin {
        extra.push("origin", raw.get());
    }
    Message {
        uuid: record.uuid.take().map(Into::into).unwrap_or_default(),
        parent_uuid: record.parent_uuid.take().flatten().map(Into::into),
        logical_parent_uuid: record.logical_parent_uuid.take().map(Into::into),
        session_id: record
            .session_id
            .take()
            .map(Into::into)
            .or_else(|| place.session_id.clone()),
        agent_id: record.agent_id.as_deref().map(str::to_string),
        line_number: position.line_number,
        byte_offset: position.byte_offset,
        byte_length: position.byte_length,
        kind: record.kind.take().map(Into::into),
        subtype: record.subtype.take().map(Into::into),
        request_id: record.request_id.take().map(Into::into),
        prompt_id: record.prompt_id.take().map(Into::into),
        permission_mode: record.permission_mode.take().map(Into::into),
        prompt_source: record.prompt_source.take().map(Into::into),
        tool_use_id: record.tool_use_id.take().map(Into::into),
        parent_tool_use_id: record.parent_tool_use_id.take().map(Into::into),
        forked_from_session_id,
        cwd: record.cwd.take().map(Into::into),
        git_branch: record.git_branch.take().map(Into::into),
        version: record.version.take().map(Into::into),
        entrypoint: record.entrypoint.take().map(Into::into),
        user_type: record.user_type.take().map(Into::into),
        slug: record.slug.take().map(Into::into),
        level: record.level.take().map(Into::into),
        is_sidechain: record.is_sidechain,
        is_meta: record.is_meta,
        is_compact_summary: record.is_compact_summary,
        is_api_error: record.is_api_error,
        sent_at,
        ..Message::default()
    }
}

/// A time in our form. Where the source has it in another, that one stays in the JSON.
pub fn moment(raw: &RawValue, key: &str, extra: &mut Extra) -> Option<String> {
    let json = raw.get();
    let text = json_text(json);
    let moment = match &text {
        Some(text) => timestamp::normalize(text).map(Into::into),
        None => json_number(json).and_then(timestamp::from_milliseconds),
    };
    if text.as_deref() != moment.as_deref() || text.is_none() {
        extra.push(key, json);
    }
    moment
}

/// The agent whose message this is: every line of an agent's file, and sidechain lines that name one. A main-file line
/// of 2.0.x may name the agent it spawned, and is not its message.
fn agent(record: &Record<'_>, message: &Message, place: &Place) -> Option<Agent> {
    let is_agents = place.kind == Kind::Agent || record.is_sidechain == Some(true);
    let agent_id = record.agent_id.as_deref().or(place.agent_id.as_deref());
    Some(Agent {
        session_id: message.session_id.clone()?,
        agent_id: agent_id.filter(|_| is_agents)?.to_string(),
        layout: place.layout.name(),
    })
}

object! {
    /// `attachment`.
    pub struct Attachment {
        "type" => kind: text,
        /// Of `queued_command`: what the person typed meanwhile, or an agent's result.
        "prompt" => prompt: Content,
    }
}
fn attachment(
    raw: &RawValue,
    message: &mut Message,
    blocks: &mut Vec<BlockRows>,
    extra: &mut Extra,
    unknown: &mut Unknown<'_>,
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
    rest.push_rest(&attachment.rest);
    match (&message.subtype, attachment.kind) {
        (None, Some(kind)) => message.subtype = Some(kind.into_owned()),
        (Some(_), Some(kind)) => rest.push_text("type", &kind),
        (_, None) => {}
    }
    extra.push_object("attachment", rest);
}

object! {
    /// `data` of a progress record.
    pub struct Data {
        "type" => kind: text,
        "agentId" => agent_id: text,
        /// Of `agent_progress`: an agent's line as its parent saw it go by.
        "message" => message: raw,
        /// Of `bash_progress`: the output so far, again and again. The archive has it.
        "output" => output: long_text,
        "fullOutput" => full_output: long_text,
    }
}

object! {
    /// The record inside `agent_progress`.
    pub struct Echo {
        "uuid" => uuid: text,
        "requestId" => request_id: text,
        "timestamp" => timestamp: raw,
        "message" => message: EchoMessage,
    }
}

/// Keeps what a progress record says, and takes the usage that an agent's line carries in it: where that agent's file is
/// gone it is the only trace of what the agent spent.
fn progress(raw: &RawValue, message: &mut Message, extra: &mut Extra) -> Option<Usage> {
    let Ok(data) = parse_object::<Data>(raw.get()) else {
        extra.push("data", raw.get());
        return None;
    };
    let mut rest = Extra::default();
    push_text(&mut rest, "agentId", data.agent_id.as_deref());
    if let Some(message) = data.message {
        rest.push("message", message.get());
    }
    rest.push_rest(&data.rest);
    let usage = match data.kind.as_deref() {
        Some("agent_progress") => data.message.and_then(|raw| echoed_usage(raw, message)),
        _ => None,
    };
    match (&message.subtype, data.kind) {
        (None, Some(kind)) => message.subtype = Some(kind.into_owned()),
        (Some(_), Some(kind)) => rest.push_text("type", &kind),
        (_, None) => {}
    }
    extra.push_object("data", rest);
    let mut usage = usage?;
    usage.agent = data.agent_id.map(|agent_id| Agent {
        session_id: String::new(),
        agent_id: agent_id.into_owned(),
        layout: Layout::Nested.name(),
    });
    Some(usage)
}

fn echoed_usage(raw: &RawValue, message: &Message) -> Option<Usage> {
    let mut echo: Echo = parse_object(raw.get()).ok()?;
    let uuid = echo.uuid.as_deref().unwrap_or(&message.uuid).to_string();
    let mut usage = usage::usage(echo.message.as_mut()?, &uuid)?;
    usage.line.is_progress = true;
    usage.line.is_sidechain = true;
    usage.line.request_id = echo.request_id.map(Into::into);
    usage.line.sent_at = echo
        .timestamp
        .and_then(|raw| moment(raw, "", &mut Extra::default()));
    Some(usage)
}

/// Gives what a tool returned to the result it belongs to: the only one of the line, else the first.
fn tool_use_result(raw: &RawValue, blocks: &mut [BlockRows], extra: &mut Extra) {
    match blocks.iter_mut().find_map(|row| row.tool_result.as_mut()) {
        Some(result) => {
            result.details_json = tool::details(raw, result.content.as_deref().unwrap_or_default())
        }
        None => extra.push("toolUseResult", raw.get()),
    }
}

fn push_text(extra: &mut Extra, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        extra.push_text(key, text);
    }
}

/// Hashes what a message says, without the envelope that copies change.
struct ContentHash(blake3::Hasher);

/// Keys that a copy has of its own.
const OWN_KEYS: &[&str] = &[
    "session_id",
    "sessionKind",
    "teamName",
    "agentName",
    "agentColor",
    "isTeammate",
];

impl ContentHash {
    fn new(record: &Record<'_>) -> Self {
        let mut hash = ContentHash(blake3::Hasher::new());
        hash.text(record.kind.as_deref());
        hash.text(record.subtype.as_deref());
        hash.text(record.content.as_deref());
        for raw in [record.attachment, record.data] {
            hash.text(raw.map(|raw| raw.get()));
        }
        hash.rest(&record.rest);
        if let Some(message) = &record.message {
            hash.text(message.id.as_deref());
            hash.text(message.model.as_deref());
        }
        hash
    }

    fn rest(&mut self, rest: &Rest<'_>) {
        for (key, json) in rest
            .iter()
            .filter(|(key, _)| !OWN_KEYS.contains(&key.as_ref()))
        {
            self.text(Some(key));
            self.text(Some(json.get()));
        }
    }

    fn blocks(&mut self, rows: &[BlockRows]) {
        for row in rows {
            let block = &row.block;
            self.text(block.kind.as_deref());
            self.text(block.text.as_deref());
            self.text(block.extra_json.as_deref());
            self.bytes(block.content_hash.as_deref());
            if let Some(tool_use) = &row.tool_use {
                self.text(Some(&tool_use.tool_use_id));
                self.text(tool_use.name.as_deref());
                self.text(tool_use.input_json.as_deref());
            }
            if let Some(result) = &row.tool_result {
                self.text(result.source_tool_use_id.as_deref());
                self.text(result.content.as_deref());
                self.text(result.details_json.as_deref());
            }
        }
    }

    fn text(&mut self, text: Option<&str>) {
        self.bytes(text.map(str::as_bytes));
    }

    /// Lengths keep neighbours apart.
    fn bytes(&mut self, bytes: Option<&[u8]>) {
        self.0.update(
            &bytes
                .map_or(u64::MAX, |bytes| bytes.len() as u64)
                .to_le_bytes(),
        );
        self.0.update(bytes.unwrap_or_default());
    }

    fn finish(self) -> Vec<u8> {
        self.0.finalize().as_bytes()[..16].to_vec()
    }
}
