//! Links between sub-agents and the tool calls that spawned them. Lines may disagree; SQL decides which link counts.

use crate::rows::{AgentLink, BlockRows, TaskNotification};

/// A link. The loader sets its session to that of the line.
pub fn new(agent_id: &str, tool_use_id: &str, method: &'static str) -> AgentLink {
    AgentLink {
        session_id: String::new(),
        agent_id: agent_id.to_string(),
        source_tool_use_id: tool_use_id.to_string(),
        method,
    }
}

/// Links from the `agentId` of `toolUseResult`, or else from the end of a result's text.
pub fn from_blocks(blocks: &[BlockRows<'_>]) -> Vec<AgentLink> {
    let results = blocks.iter().filter_map(|row| row.tool_result.as_ref());
    let links = results.filter_map(|result| {
        let call = result.source_tool_use_id.as_deref()?;
        let text = result.content.as_deref().unwrap_or_default();
        match (&result.agent_id, agent_in_text(text)) {
            (Some(agent_id), _) => Some(new(agent_id, call, "result")),
            (None, Some(agent_id)) => Some(new(agent_id, call, "text")),
            (None, None) => None,
        }
    });
    links.collect()
}

/// The link of a task notification that names a sub-agent and a call.
pub fn from_notification(notification: &TaskNotification<'_>) -> Option<AgentLink> {
    let agent_id = notification.background_task_id.as_deref()?;
    let call = notification.tool_use_id.as_deref()?;
    Some(new(agent_id, call, "notification"))
}

/// `agentId: a6c92408dc3f631da (internal ID ...` near the end of the Task tool's result.
fn agent_in_text(text: &str) -> Option<&str> {
    let line = text
        .lines()
        .rev()
        .take(12)
        .find(|line| line.starts_with("agentId: "))?;
    let rest = line.strip_prefix("agentId: ")?;
    let id = rest.split([' ', '(']).next()?;
    let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (id.len() >= 6 && id.bytes().all(is_id)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_names_its_agent_near_its_end() {
        let text = "All done.\nagentId: a6c92408dc3f631da (for resuming)\n<usage>total_tokens: 5\ntool_uses: 1\nduration_ms: 9</usage>";
        assert_eq!(agent_in_text(text), Some("a6c92408dc3f631da"));
        assert_eq!(agent_in_text("1\tagentId: a6c92408dc3f631da"), None);
        assert_eq!(agent_in_text("agentId: no"), None);
    }
}
