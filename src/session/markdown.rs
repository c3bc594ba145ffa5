//! A session as Markdown, for files and other tools. Tool calls and thinking are collapsed.

use super::{Agent, Block, Message, Part, Session, session_start};
use std::fmt::Write as _;

pub fn render(session: &Session) -> String {
    let mut page = format!("# {}\n\n", session.title());
    let facts = &session.facts;
    let parts = [
        facts.text("project").to_string(),
        facts.text("git_branch").to_string(),
        session_start(facts),
        facts.text("session_id").to_string(),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    page += &format!("{}\n\n", parts.join(" · "));
    thread(&mut page, &session.messages);
    for agent in &session.agents {
        folded_agent(&mut page, agent);
    }
    page
}

fn thread(page: &mut String, messages: &[Message]) {
    let mut speaker = String::new();
    for message in messages {
        let said_by = message.speaker();
        if said_by != speaker {
            let sent_at = message.row.text("sent_at_local");
            let _ = writeln!(page, "## {said_by} · {sent_at}\n");
            speaker = said_by;
        }
        for part in message
            .blocks
            .iter()
            .filter_map(|block| message.part(block))
        {
            match part {
                Part::Prompt(text) | Part::Response(text) => {
                    let _ = writeln!(page, "{}\n", text.trim_end());
                }
                Part::Thinking(text) => fold(page, "thinking", text),
                Part::Machine(kind, text) => fold(page, &kind, text),
                Part::Attachment(kind, media_type) => {
                    let _ = writeln!(page, "[{kind} {media_type}]\n");
                }
                Part::Call(block) => call(page, block),
            }
        }
    }
}

fn call(page: &mut String, block: &Block) {
    let ending = block.ending().map(|ending| format!(" ({ending})"));
    let summary = block.call() + &ending.unwrap_or_default();
    let body = format!(
        "{}\n{}\n{}",
        fence(block.row.text("input_json"), "json"),
        block.row.text("denial_reason"),
        fence(block.row.text("result"), "")
    );
    fold(page, &summary, &body);
    for agent in &block.agents {
        folded_agent(page, agent);
    }
}

fn folded_agent(page: &mut String, agent: &Agent) {
    let mut inner = String::new();
    thread(&mut inner, &agent.messages);
    let (kind, id) = (agent.row.text("agent_type"), agent.row.text("agent_id"));
    fold(page, &format!("agent {kind} {id}"), &inner);
}

fn fold(page: &mut String, summary: &str, body: &str) {
    if body.trim().is_empty() {
        return;
    }
    let summary = summary.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        page,
        "<details><summary>{summary}</summary>\n\n{}\n\n</details>\n",
        body.trim()
    );
}

/// A code block, with a fence longer than any inside.
fn fence(text: &str, language: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let mut marks = "```".to_string();
    while text.contains(&marks) {
        marks.push('`');
    }
    format!("{marks}{language}\n{}\n{marks}", text.trim_end())
}
