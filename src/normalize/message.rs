//! A chain record -> a message with its blocks, its agent and its usage.

use super::extra::Extra;
use super::prompt::{self, Question};
use super::tool_result::{ResultFields, complete_results};
use super::truncate::join_truncated;
use super::unknown::Unknown;
use super::{Entries, Position, agent_link, content, notification, usage};
use crate::discover::{Kind, Layout, Place};
use crate::record::{
    Content, ContentOf, Lenient, Message as EchoMessage, Opened, Raw, Record, Rest, json_cost,
    json_number, json_text, object, parse_object,
};
use crate::rows::{
    Agent, AgentLink, BlockRows, Message, MessageRows, TaskNotification, Text, UnknownKind, Usage,
};
use crate::timestamp;
use std::borrow::Cow;
use xxhash_rust::xxh3::Xxh3;

/// The message of a chain record.
pub fn message<'a>(
    record: &mut Record<'a>,
    position: Position,
    place: &'a Place,
    unknown_kinds: &mut Vec<UnknownKind>,
) -> Box<MessageRows<'a>> {
    let mut unknown = Unknown {
        found: unknown_kinds,
        version: record.version.clone(),
        position,
    };
    unknown.record(record.kind.as_deref(), &record.rest);

    let mut extra = Extra::default();
    let mut hash = ContentHash::new(record);
    let mut message = envelope(record, position, place, &mut extra);
    let agent = agent(record, &message, place);
    let mut question = Question {
        is_meta: message.is_meta == Some(true),
        is_compact_summary: message.is_compact_summary == Some(true),
        is_agents: place.kind == Kind::Agent
            || record.is_sidechain == Some(true)
            || agent.is_some(),
        is_first: message.parent_uuid.is_none(),
        has_plan: record.plan_content.is_some(),
        ..Question::default()
    };
    let mut links = Vec::new();
    let mut blocks = Vec::new();
    let mut usage = None;

    if let Some(mut inner) = record.message.take() {
        hash.rest(&inner.rest);
        usage = usage::usage(&inner, &message.uuid);
        message.role = inner.role.take();
        message.model = inner.model.take();
        message.stop_reason = inner.stop_reason.take();
        if let Some(content) = inner.content.take() {
            message.has_string_content = Some(matches!(content, ContentOf::Text(_)));
            hash.signatures(&content);
            blocks = content::blocks(content, &mut unknown);
        }
        let mut rest = Extra::default();
        for (key, value) in &inner.rest {
            if !SAYS_NOTHING.contains(&(key.as_ref(), value.get())) {
                rest.push(key, value.get());
            }
        }
        if usage.is_none() {
            rest.push_optional("id", inner.id.as_deref());
            if let Some(raw) = inner.usage {
                rest.push("usage", raw.get());
            }
        }
        extra.push_object("message", rest);
    }
    match record.content.take() {
        Some(text) if blocks.is_empty() => blocks.push(content::text_block(text)),
        Some(text) => extra.push_text("content", &text),
        None => {}
    }
    if let Some(raw) = record.attachment {
        attachment(
            raw,
            &mut message,
            &mut blocks,
            &mut question,
            &mut extra,
            &mut unknown,
        );
    }
    if let Some(raw) = record.data {
        usage = progress(raw, &mut message, &mut links, &mut extra).or(usage);
    }
    let fields = ResultFields {
        returned: record.tool_use_result.as_ref(),
        denial_kind: message.tool_denial_kind.as_deref(),
        feedback: message.user_feedback.as_deref(),
    };
    if let Some(returned) = complete_results(&mut blocks, &fields) {
        extra.push("toolUseResult", returned.json.get());
    }
    for (key, value) in &record.rest {
        let is_parent = key == "sourceToolAssistantUUID"
            && json_text(value.get()).as_deref() == message.parent_uuid.as_deref()
            && message.parent_uuid.is_some();
        if !is_parent {
            extra.push(key, value.get());
        }
    }

    prompt(&mut message, &mut blocks, question);
    let notifications = notifications(&message, &blocks);
    links.extend(agent_link::from_blocks(&blocks));
    links.extend(
        notifications
            .iter()
            .filter_map(agent_link::from_notification),
    );
    if let Some(usage) = &mut usage {
        complete_usage(usage, &message);
        if !usage.line.is_progress {
            usage.line.visible_char_count = Some(content::visible_chars(&blocks));
            usage.line.recorded_cost_usd = record.cost_usd.and_then(|raw| json_cost(raw.get()));
        }
    }
    // Where no usage takes it up, it stays what it is.
    let is_cost_kept = usage
        .as_ref()
        .is_some_and(|usage| usage.line.recorded_cost_usd.is_some());
    if let Some(raw) = record.cost_usd.filter(|_| !is_cost_kept) {
        extra.push("costUSD", raw.get());
    }
    hash.usage(usage.as_ref());
    hash.blocks(&blocks);
    message.content_hash = hash.finish();
    message.extra_json = extra.finish().map(Into::into);
    Box::new(MessageRows {
        message,
        agent,
        blocks,
        usage,
        links,
        notifications,
    })
}

/// What nearly every `message` has and says nothing by.
const SAYS_NOTHING: &[(&str, &str)] = &[
    ("type", "\"message\""),
    ("stop_reason", "null"),
    ("stop_sequence", "null"),
];

/// The columns that all chain records share.
fn envelope<'a>(
    record: &mut Record<'a>,
    position: Position,
    place: &'a Place,
    extra: &mut Extra,
) -> Message<'a> {
    let sent_at = record
        .timestamp
        .and_then(|raw| moment(raw, "timestamp", extra));
    let mut forked_from_session_id = None;
    if let Some(fork) = record.forked_from.take() {
        let mut rest = Extra::default();
        rest.push_rest(&fork.rest);
        extra.push_object("forkedFrom", rest);
        forked_from_session_id = fork.session_id;
    }
    let mut origin_kind = None;
    if let Some(origin) = record.origin.take() {
        let mut rest = Extra::default();
        rest.push_rest(&origin.rest);
        extra.push_object("origin", rest);
        origin_kind = origin.kind;
    }
    if let Some(raw) = record.plan_content {
        extra.push("planContent", raw.get());
    }
    let own_session = record.session_id.take();
    Message {
        uuid: record.uuid.take().unwrap_or_default(),
        parent_uuid: record.parent_uuid.take().flatten(),
        logical_parent_uuid: record.logical_parent_uuid.take(),
        has_own_session: own_session.is_none().then_some(false),
        session_id: own_session.or_else(|| place.session_id.as_deref().map(Cow::Borrowed)),
        agent_id: record.agent_id.clone(),
        line_number: position.line_number,
        byte_offset: position.byte_offset,
        byte_length: position.byte_length,
        kind: record.kind.take(),
        subtype: record.subtype.take(),
        request_id: record.request_id.take(),
        prompt_id: record.prompt_id.take(),
        permission_mode: record.permission_mode.take(),
        prompt_source: record.prompt_source.take(),
        origin_kind,
        effort: record.effort.take(),
        attribution_skill: record.attribution_skill.take(),
        attribution_plugin: record.attribution_plugin.take(),
        attribution_agent: record.attribution_agent.take(),
        attribution_mcp_server: record.attribution_mcp_server.take(),
        attribution_mcp_tool: record.attribution_mcp_tool.take(),
        error: record.error.take(),
        interrupted_message_id: record.interrupted_message_id.take(),
        tool_denial_kind: record.tool_denial_kind.take(),
        user_feedback: record.user_feedback.take(),
        tool_use_id: record.tool_use_id.take(),
        parent_tool_use_id: record.parent_tool_use_id.take(),
        source_tool_use_id: record.source_tool_use_id.take(),
        forked_from_session_id,
        origin_session_id: record.origin_session_id.take(),
        session_kind: record.session_kind.take(),
        team_name: record.team_name.take(),
        agent_name: record.agent_name.take(),
        cwd: record.cwd.take(),
        git_branch: record.git_branch.take(),
        version: record.version.take(),
        entrypoint: record.entrypoint.take(),
        user_type: record.user_type.take(),
        slug: record.slug.take(),
        level: record.level.take(),
        is_sidechain: record.is_sidechain,
        is_meta: record.is_meta,
        is_compact_summary: record.is_compact_summary,
        is_api_error: record.is_api_error,
        duration_ms: record.duration_ms,
        sent_at,
        ..Message::default()
    }
}

/// Sets who wrote the text of a message, and of the texts beside its tool results.
fn prompt(message: &mut Message<'_>, blocks: &mut [BlockRows<'_>], question: Question<'_>) {
    let is_text = |row: &&BlockRows<'_>| {
        row.block.part_number == 0 && matches!(row.block.kind.as_deref(), None | Some("text"))
    };
    let has = |kinds: &[&str]| {
        let mut found = blocks.iter().filter_map(|row| row.block.kind.as_deref());
        found.any(|kind| kinds.contains(&kind))
    };
    let texts: Vec<&str> = blocks
        .iter()
        .filter(is_text)
        .filter_map(|row| row.block.text.as_deref())
        .collect();
    let text = join_truncated(&texts);
    let question = Question {
        record: message.kind.as_deref().unwrap_or_default(),
        subtype: message.subtype.as_deref(),
        has_tool_result: has(&["tool_result"]),
        has_media: has(&["image", "document"]),
        origin: message.origin_kind.as_deref().or(question.origin),
        prompt_source: message.prompt_source.as_deref(),
        entrypoint: message.entrypoint.as_deref(),
        text: &text,
        ..question
    };
    let is_persons = !question.is_agents && !question.is_meta;
    let Some(prompt) = prompt::classify(&question) else {
        return;
    };
    message.prompt_kind = Some(prompt.kind);
    message.machine_kind = prompt.machine;
    message.prompt_text = prompt.text.map(Into::into);
    message.command_name = prompt.command_name.map(Into::into);
    message.command_arguments = prompt.command_arguments.map(Into::into);
    message.plan_session_id = prompt.plan_session_id.map(Into::into);
    if prompt.kind == "tool_result" && is_persons {
        for row in blocks
            .iter_mut()
            .filter(|row| row.block.kind.as_deref() == Some("text") && row.block.part_number == 0)
        {
            row.block.prompt_kind = row.block.text.as_deref().map(prompt::classify_beside);
        }
    }
}

/// The task notifications that a message delivers.
fn notifications(
    message: &Message<'_>,
    blocks: &[BlockRows<'_>],
) -> Vec<TaskNotification<'static>> {
    let is_delivery = message.machine_kind.as_deref() == Some("task_notification");
    let texts = blocks
        .iter()
        .filter(|_| is_delivery)
        .filter_map(|row| row.block.text.as_deref());
    texts.flat_map(notification::parse).collect()
}

/// Completes usage by what the record says of itself; what a progress record repeats has its own.
fn complete_usage<'a>(usage: &mut Usage<'a>, message: &Message<'a>) {
    let line = &mut usage.line;
    line.request_id = line
        .request_id
        .take()
        .or_else(|| message.request_id.clone());
    line.session_id.clone_from(&message.session_id);
    line.is_sidechain |= message.is_sidechain == Some(true);
    line.is_fork = message.forked_from_session_id.is_some();
    line.sent_at = line.sent_at.take().or_else(|| message.sent_at.clone());
    // An agent is one of a session.
    let agent = usage.agent.take().zip(message.session_id.clone());
    usage.agent = agent.map(|(agent, session_id)| Agent {
        session_id,
        ..agent
    });
}

/// A time in our form. Where the source has it in another, that one stays in the JSON.
pub fn moment<'a>(raw: Raw<'a>, key: &str, extra: &mut Extra) -> Option<Text<'a>> {
    let json = raw.get();
    let text = json_text(json);
    let moment = match &text {
        Some(text) => timestamp::normalize(text.clone()),
        None => json_number(json)
            .and_then(timestamp::from_milliseconds)
            .map(Into::into),
    };
    if text.as_deref() != moment.as_deref() || text.is_none() {
        extra.push(key, json);
    }
    moment
}

/// The agent whose message this is: every line of an agent's file, and sidechain lines that name one. A main-file line
/// of 2.0.x may name the agent it spawned, and is not its message.
fn agent<'a>(record: &Record<'a>, message: &Message<'a>, place: &'a Place) -> Option<Agent<'a>> {
    let is_agents = place.kind == Kind::Agent || record.is_sidechain == Some(true);
    let place_agent = || place.agent_id.as_deref().map(Cow::Borrowed);
    let agent_id = record.agent_id.clone().or_else(place_agent);
    Some(Agent {
        session_id: message.session_id.clone()?,
        agent_id: agent_id.filter(|_| is_agents)?,
        layout: place.layout.name(),
        workflow_run_id: place.workflow_run_id.as_deref().map(Cow::Borrowed),
    })
}

object! {
    /// `attachment`.
    pub struct Attachment {
        "type" => kind: text,
        /// Of `queued_command`: what the person typed meanwhile, or an agent's result.
        "prompt" => prompt: Content,
        "commandMode" => command_mode: raw,
        "origin" => origin: raw,
        "isMeta" => is_meta: raw,
    }
}

fn attachment<'a>(
    raw: Raw<'a>,
    message: &mut Message<'a>,
    blocks: &mut Vec<BlockRows<'a>>,
    question: &mut Question<'a>,
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
    question.is_queued_command = attachment.kind.as_deref() == Some("queued_command");
    question.command_mode = attachment
        .command_mode
        .and_then(|raw| borrowed_text(raw.get()));
    question.origin = attachment.origin.and_then(|raw| origin_kind(raw.get()));
    question.is_meta |= attachment.is_meta.is_some_and(|raw| raw.get() == "true");
    set_subtype(message, attachment.kind, &mut rest);
    extra.push_object("attachment", rest);
}

/// A short text without escapes, as names are.
fn borrowed_text(json: &str) -> Option<&str> {
    match json_text(json)? {
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

/// The kind of an attachment or of progress is the subtype of its record.
fn set_subtype<'a>(message: &mut Message<'a>, kind: Option<Text<'a>>, rest: &mut Extra) {
    match (&message.subtype, kind) {
        (None, Some(kind)) => message.subtype = Some(kind),
        (Some(_), Some(kind)) => rest.push_text("type", &kind),
        (_, None) => {}
    }
}

object! {
    /// `data` of a progress record.
    pub struct Data {
        "type" => kind: text,
        "agentId" => agent_id: id,
        /// Of `agent_progress`: an agent's line as its parent saw it go by.
        "message" => message: Opened,
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
fn progress<'a>(
    raw: Raw<'a>,
    message: &mut Message<'a>,
    links: &mut Vec<AgentLink>,
    extra: &mut Extra,
) -> Option<Usage<'a>> {
    let Ok(data) = parse_object::<Data>(raw.get()) else {
        extra.push("data", raw.get());
        return None;
    };
    let mut rest = Extra::default();
    rest.push_optional("agentId", data.agent_id.as_deref());
    let is_echo = data.kind.as_deref() == Some("agent_progress");
    match &data.message {
        Some(message) if is_echo => rest.push("message", &echo_json(message)),
        Some(message) => rest.push("message", message.json.get()),
        None => {}
    }
    for (key, value) in &data.rest {
        if !(is_echo && ECHOED_KEYS.contains(&key.as_ref())) {
            rest.push(key, value.get());
        }
    }
    let mut usage = None;
    if is_echo {
        usage = data
            .message
            .and_then(|echo| echoed_usage(echo.json, message));
        if let (Some(agent_id), Some(call)) = (&data.agent_id, &message.parent_tool_use_id) {
            links.push(agent_link::new(agent_id, call, "progress"));
        }
    }
    set_subtype(message, data.kind, &mut rest);
    extra.push_object("data", rest);
    let mut usage = usage?;
    usage.agent = data.agent_id.map(|agent_id| Agent {
        session_id: Cow::Borrowed(""),
        agent_id,
        layout: Layout::Nested.name(),
        workflow_run_id: None,
    });
    Some(usage)
}

/// What every `agent_progress` record of an agent says again: its prompt, and its lines so far.
const ECHOED_KEYS: &[&str] = &["prompt", "normalizedMessages"];

/// An agent's line as its parent saw it go by, without what it says: the agent's own file has it, and the archive.
fn echo_json(echo: &Opened<'_>) -> String {
    if !echo.json.get().starts_with('{') {
        return echo.json.get().to_string();
    }
    let message = echo.entries.iter().rfind(|(key, _)| key == "message");
    let message = message.and_then(|(_, message)| {
        let message: Entries = parse_object(message.get()).ok()?;
        let mut kept = Extra::default();
        for (key, value) in &message.rest {
            if key != "content" {
                kept.push(key, value.get());
            }
        }
        Some(kept.finish().unwrap_or_else(|| "{}".to_string()))
    });
    let mut kept = Extra::default();
    for (key, value) in &echo.entries {
        match (key.as_ref(), &message) {
            ("toolUseResult", _) => {}
            ("message", Some(message)) => kept.push("message", message),
            (key, _) => kept.push(key, value.get()),
        }
    }
    kept.finish().unwrap_or_else(|| "{}".to_string())
}

fn echoed_usage<'a>(raw: Raw<'a>, progress: &Message<'a>) -> Option<Usage<'a>> {
    let echo: Echo = parse_object(raw.get()).ok()?;
    let message = echo.message?;
    let mut usage = usage::usage(&message, echo.uuid.as_ref().unwrap_or(&progress.uuid))?;
    usage.line.visible_char_count = message
        .content
        .as_ref()
        .map(content::visible_chars_of_content);
    usage.line.is_progress = true;
    usage.line.is_sidechain = true;
    usage.line.request_id = echo.request_id;
    usage.line.sent_at = echo
        .timestamp
        .and_then(|raw| moment(raw, "", &mut Extra::default()));
    Some(usage)
}

/// What a copy of a message says of itself: its line, without the content that it has in common with the message.
pub fn copy_json(line: &[u8], is_different: bool) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    let json = crate::decode::repair_escapes(text);
    let entries: Entries = parse_object(&json).ok()?;
    let mut own = Extra::default();
    for (key, value) in &entries.rest {
        if is_different || !CONTENT_KEYS.contains(&key.as_ref()) {
            own.push(key, value.get());
        }
    }
    own.finish()
}

/// The keys that hold the content of a line, all of which go into its hash.
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

/// Hashes what a message says, without the envelope that copies change. Nobody needs to be kept from making two messages with
/// one hash: they are the person's own. So it is a hash that costs little.
struct ContentHash(Xxh3);

/// Keys that a copy has of its own.
const OWN_KEYS: &[&str] = &["agentColor", "isTeammate"];

impl ContentHash {
    fn new(record: &Record<'_>) -> Self {
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

    fn rest(&mut self, rest: &Rest<'_>) {
        for (key, json) in rest
            .iter()
            .filter(|(key, _)| !OWN_KEYS.contains(&key.as_ref()))
        {
            self.text(Some(key));
            self.text(Some(json.get()));
        }
    }

    /// What is left to the archive tells copies apart all the same.
    fn signatures(&mut self, content: &Content<'_>) {
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

    fn usage(&mut self, usage: Option<&Usage<'_>>) {
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

    fn blocks(&mut self, rows: &[BlockRows<'_>]) {
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

    /// Lengths keep neighbours apart.
    fn bytes(&mut self, bytes: Option<&[u8]>) {
        let length = bytes.map_or(u64::MAX, |bytes| bytes.len() as u64);
        self.0.update(&length.to_le_bytes());
        if let Some(bytes) = bytes {
            self.0.update(bytes);
        }
    }

    fn finish(self) -> [u8; 16] {
        self.0.digest128().to_be_bytes()
    }
}
