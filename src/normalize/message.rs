//! A chain record -> a message with its blocks, its sub-agent and its usage.

use super::copy::ContentHash;
use super::extra::{Extra, parse_time};
use super::prompt::{self, PromptContext};
use super::tool_result::{ResultFields, complete_results};
use super::truncate::join_truncated;
use super::unknown::Unknown;
use super::{Position, agent_link, attachment, content, notification, progress, usage};
use crate::discover::{Kind, Place};
use crate::json;
use crate::record::{self, ContentOf, Message as ApiMessage, Record};
use crate::rows::{
    Agent, BlockRows, Message, MessageRows, TaskNotification, Text, UnknownKind, Usage,
};
use std::borrow::Cow;

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
    let agent = agent(record, message.session_id.as_ref(), place);
    let mut context = PromptContext {
        is_meta: message.is_meta == Some(true),
        is_compact_summary: message.is_compact_summary == Some(true),
        is_sub_agent: place.kind == Kind::Agent
            || record.is_sidechain == Some(true)
            || agent.is_some(),
        is_first: message.parent_uuid.is_none(),
        has_plan: record.plan_content.is_some(),
        ..PromptContext::default()
    };
    let mut links = Vec::new();
    let mut blocks = Vec::new();
    let mut usage = None;

    if let Some(mut inner) = record.message.take() {
        hash.rest(&inner.rest);
        if let Some(content) = inner.content.take() {
            message.has_string_content = Some(matches!(content, ContentOf::Text(_)));
            hash.signatures(&content);
            blocks = content::blocks(content, &mut unknown);
        }
        usage = api_message(inner, &mut message, &mut extra);
    }
    match record.content.take() {
        Some(text) if blocks.is_empty() => blocks.push(content::text_block(text)),
        Some(text) => extra.push_text("content", &text),
        None => {}
    }
    if let Some(raw) = record.attachment {
        attachment::attachment(
            raw,
            &mut message,
            &mut blocks,
            &mut context,
            &mut extra,
            &mut unknown,
        );
    }
    if let Some(raw) = record.data {
        usage = progress::progress(raw, &mut message, &mut links, &mut extra).or(usage);
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
            && json::text(value.get()).as_deref() == message.parent_uuid.as_deref()
            && message.parent_uuid.is_some();
        if !is_parent {
            extra.push(key, value.get());
        }
    }

    classify_prompt(&mut message, &mut blocks, context);
    let notifications = notifications(&message, &blocks);
    links.extend(agent_link::from_blocks(&blocks));
    links.extend(
        notifications
            .iter()
            .filter_map(agent_link::from_notification),
    );
    let mut recorded_cost_usd = None;
    if let Some(usage) = &mut usage {
        complete_usage(usage, &message);
        if !usage.line.is_progress {
            recorded_cost_usd = record.cost_usd.and_then(|raw| record::cost(raw.get()));
            usage.line.visible_char_count = Some(content::visible_chars(&blocks));
            usage.line.recorded_cost_usd = recorded_cost_usd;
        }
    }
    if let (Some(raw), None) = (record.cost_usd, recorded_cost_usd) {
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

/// Sets the columns that come from the API message. Returns its usage.
fn api_message<'a>(
    inner: ApiMessage<'a>,
    message: &mut Message<'a>,
    extra: &mut Extra,
) -> Option<Usage<'a>> {
    let usage = usage::usage(&inner, &message.uuid);
    let mut rest = Extra::default();
    for (key, value) in &inner.rest {
        if !DEFAULTS.contains(&(key.as_ref(), value.get())) {
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
    message.role = inner.role;
    message.model = inner.model;
    message.stop_reason = inner.stop_reason;
    usage
}

/// Keys and values that nearly every `message` has.
const DEFAULTS: &[(&str, &str)] = &[
    ("type", "\"message\""),
    ("stop_reason", "null"),
    ("stop_sequence", "null"),
];

/// The columns that all chain records have.
fn envelope<'a>(
    record: &mut Record<'a>,
    position: Position,
    place: &'a Place,
    extra: &mut Extra,
) -> Message<'a> {
    let sent_at = record
        .timestamp
        .and_then(|raw| parse_time(raw, "timestamp", extra));
    let mut forked_from_session_id = None;
    if let Some(fork) = record.forked_from.take() {
        extra.push_object("forkedFrom", Extra::from(&fork.rest));
        forked_from_session_id = fork.session_id;
    }
    let mut origin_kind = None;
    if let Some(origin) = record.origin.take() {
        extra.push_object("origin", Extra::from(&origin.rest));
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
        source_tool_use_id: record.tool_use_id.take(),
        parent_tool_use_id: record.parent_tool_use_id.take(),
        cause_tool_use_id: record.source_tool_use_id.take(),
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

/// Classifies the text of a message, and the texts next to its tool results.
fn classify_prompt(
    message: &mut Message<'_>,
    blocks: &mut [BlockRows<'_>],
    context: PromptContext<'_>,
) {
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
    let context = PromptContext {
        record: message.kind.as_deref().unwrap_or_default(),
        subtype: message.subtype.as_deref(),
        has_tool_result: has(&["tool_result"]),
        has_media: has(&["image", "document"]),
        origin: message.origin_kind.as_deref().or(context.origin),
        prompt_source: message.prompt_source.as_deref(),
        entrypoint: message.entrypoint.as_deref(),
        text: &text,
        ..context
    };
    let may_be_human = !context.is_sub_agent && !context.is_meta;
    let Some(prompt) = prompt::classify(&context) else {
        return;
    };
    message.prompt_kind = Some(prompt.kind);
    message.machine_kind = prompt.machine;
    message.prompt_text = prompt.text.map(Into::into);
    message.command_name = prompt.command_name.map(Into::into);
    message.command_arguments = prompt.command_arguments.map(Into::into);
    message.plan_session_id = prompt.plan_session_id.map(Into::into);
    if prompt.kind == "tool_result" && may_be_human {
        for row in blocks
            .iter_mut()
            .filter(|row| row.block.kind.as_deref() == Some("text") && row.block.part_number == 0)
        {
            row.block.prompt_kind = row.block.text.as_deref().map(prompt::classify_with_result);
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

/// Copies fields of the message to its usage. Usage from a progress record has its own request id and time.
fn complete_usage<'a>(usage: &mut Usage<'a>, message: &Message<'a>) {
    if !usage.line.is_progress {
        usage.line.request_id.clone_from(&message.request_id);
        usage.set_scope(&message.uuid);
    }
    let line = &mut usage.line;
    line.session_id.clone_from(&message.session_id);
    line.is_sidechain |= message.is_sidechain == Some(true);
    line.is_fork = message.forked_from_session_id.is_some();
    line.sent_at = line.sent_at.take().or_else(|| message.sent_at.clone());
    // Without a session there is no row for the sub-agent.
    let agent = usage.agent.take().zip(message.session_id.clone());
    usage.agent = agent.map(|(agent, session_id)| Agent {
        session_id,
        ..agent
    });
}

/// The sub-agent that a record belongs to: that of the file, or the one that a sidechain line names. In 2.0.x a line of the main
/// conversation may name the sub-agent that it spawned; it does not belong to that sub-agent.
pub fn agent<'a>(
    record: &Record<'a>,
    session_id: Option<&Text<'a>>,
    place: &'a Place,
) -> Option<Agent<'a>> {
    let is_sub_agent = place.kind == Kind::Agent || record.is_sidechain == Some(true);
    let place_agent = || place.agent_id.as_deref().map(Cow::Borrowed);
    let agent_id = record.agent_id.clone().or_else(place_agent);
    Some(Agent {
        session_id: session_id.cloned()?,
        agent_id: agent_id.filter(|_| is_sub_agent)?,
        layout: Some(place.layout.name()),
        workflow_id: place.workflow_id.as_deref().map(Cow::Borrowed),
    })
}

/// The type of an attachment or of progress data becomes the subtype of the message.
pub fn set_subtype<'a>(message: &mut Message<'a>, kind: Option<Text<'a>>, rest: &mut Extra) {
    match (&message.subtype, kind) {
        (None, Some(kind)) => message.subtype = Some(kind),
        (Some(_), Some(kind)) => rest.push_text("type", &kind),
        (_, None) => {}
    }
}
