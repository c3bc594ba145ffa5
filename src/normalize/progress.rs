//! Progress records: what a sub-agent or a command did while its call was running.

use super::extra::{Extra, parse_time};
use super::message::set_subtype;
use super::{Entries, agent_link, content, usage};
use crate::json::{Opened, Raw, parse_object};
use crate::record::{Message as ApiMessage, object};
use crate::rows::{Agent, AgentLink, Message, Usage};
use std::borrow::Cow;

object! {
    /// `data` of a progress record.
    pub struct Data {
        "type" => kind: text,
        "agentId" => agent_id: id,
        /// Of `agent_progress`: a line of the sub-agent.
        "message" => message: Opened,
        /// Of `bash_progress`: the output so far. Only the archive keeps it.
        "output" => output: long_text,
        "fullOutput" => full_output: long_text,
    }
}

object! {
    /// The sub-agent's record inside `agent_progress`.
    pub struct Echo {
        "uuid" => uuid: text,
        "requestId" => request_id: text,
        "timestamp" => timestamp: raw,
        "message" => message: ApiMessage,
    }
}

/// Adds the data of a progress record to its message. Returns the usage of the sub-agent's line in it: if the sub-agent's file is
/// gone, there is no other record of its tokens.
pub fn progress<'a>(
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
        layout: None,
        workflow_id: None,
    });
    Some(usage)
}

/// Keys that every `agent_progress` record of a sub-agent repeats: its prompt, and its lines so far.
const ECHOED_KEYS: &[&str] = &["prompt", "normalizedMessages"];

/// The sub-agent's line without its content, which is in the sub-agent's file and in the archive.
fn echo_json(echo: &Opened<'_>) -> String {
    if !echo.json.get().starts_with('{') {
        return echo.json.get().to_string();
    }
    let message = echo.entries.iter().rfind(|(key, _)| key == "message");
    let message = message.and_then(|(_, message)| {
        let message: Entries = parse_object(message.get()).ok()?;
        let mut json = Extra::default();
        for (key, value) in &message.rest {
            if key != "content" {
                json.push(key, value.get());
            }
        }
        Some(json.finish().unwrap_or_else(|| "{}".to_string()))
    });
    let mut json = Extra::default();
    for (key, value) in &echo.entries {
        match (key.as_ref(), &message) {
            ("toolUseResult", _) => {}
            ("message", Some(message)) => json.push("message", message),
            (key, _) => json.push(key, value.get()),
        }
    }
    json.finish().unwrap_or_else(|| "{}".to_string())
}

fn echoed_usage<'a>(raw: Raw<'a>, progress: &Message<'a>) -> Option<Usage<'a>> {
    let echo: Echo = parse_object(raw.get()).ok()?;
    let message = echo.message?;
    let line_name = echo.uuid.as_ref().unwrap_or(&progress.uuid);
    let mut usage = usage::usage(&message, line_name)?;
    usage.line.visible_char_count = message
        .content
        .as_ref()
        .map(content::visible_chars_of_content);
    usage.line.is_progress = true;
    usage.line.is_sidechain = true;
    usage.line.request_id = echo.request_id.or_else(|| progress.request_id.clone());
    usage.set_scope(line_name);
    usage.line.sent_at = echo
        .timestamp
        .and_then(|raw| parse_time(raw, "", &mut Extra::default()));
    Some(usage)
}
