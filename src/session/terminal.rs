//! A session for reading in a terminal.

use super::{Agent, Block, Message, Part, Session, prose};
use crate::terminal::{Emphasis, grouped, sanitize};

/// Longer lines are tiring to read.
const WIDEST: usize = 100;

/// Lines of a result that a call shows, unless all are asked for.
const RESULT_LINES: usize = 3;

pub struct Renderer<'a> {
    pub emphasis: &'a Emphasis,
    pub width: usize,
    /// Whether inputs, changes and results of tool calls are shown in full.
    pub tools_in_full: bool,
}

impl Renderer<'_> {
    pub fn render(&self, session: &Session) -> String {
        let mut lines = self.head(session);
        let width = self.width.min(WIDEST);
        lines.extend(self.thread(&session.messages, width));
        for agent in &session.agents {
            lines.push(String::new());
            lines.extend(self.agent(agent, width));
        }
        lines.join("\n")
    }

    fn head(&self, session: &Session) -> Vec<String> {
        let mut lines = prose::plain(session.title(), self.width);
        for line in &mut lines {
            *line = self.emphasis.style("1", line);
        }
        for line in session.summary() {
            lines.extend(prose::plain(&line, self.width));
        }
        lines.push(self.emphasis.faint(&format!(
            "claude --resume {}",
            sanitize(session.facts.text("session_id"))
        )));
        lines
    }

    fn thread(&self, messages: &[Message], width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut speaker = String::new();
        let mut is_first = true;
        for message in messages {
            let said_by = message.speaker();
            if said_by != speaker {
                let sent_at = message.row.text("sent_at_local");
                let heading = self
                    .emphasis
                    .style("1", &format!("▌ {}", sanitize(&said_by)));
                lines.push(String::new());
                lines.push(format!(
                    "{heading}  {}",
                    self.emphasis.faint(&sanitize(sent_at))
                ));
                speaker = said_by;
                is_first = true;
            }
            for part in message
                .blocks
                .iter()
                .filter_map(|block| message.part(block))
            {
                let is_text = matches!(part, Part::Prompt(_) | Part::Response(_));
                if is_text && !is_first {
                    lines.push(String::new());
                }
                is_first = false;
                match part {
                    Part::Prompt(text) => lines.extend(prose::plain(text, width)),
                    Part::Response(text) => {
                        lines.extend(prose::render(text, width, self.emphasis));
                    }
                    Part::Thinking(text) => {
                        lines.extend(
                            self.dimmed(&prose::plain(&format!("thinking: {text}"), width)),
                        );
                    }
                    Part::Machine(kind, text) => lines.extend(self.machine(&kind, text, width)),
                    Part::Attachment(kind, media_type) => {
                        lines.push(format!("[{} {}]", sanitize(kind), sanitize(media_type)))
                    }
                    Part::Call(block) => lines.extend(self.call(block, width)),
                }
            }
        }
        lines
    }

    fn machine(&self, kind: &str, text: &str, width: usize) -> Vec<String> {
        let lines = prose::plain(&format!("[{kind}] {text}"), width);
        self.dimmed(&self.shortened(lines, 1))
    }

    fn call(&self, block: &Block, width: usize) -> Vec<String> {
        let call = sanitize(&block.call()).into_owned();
        let mut lines = self.dimmed(&self.shortened(prose::plain(&format!("● {call}"), width), 1));
        if let Some(ending) = block.ending() {
            let ending = format!("  {}", sanitize(&ending));
            lines.push(match block.has_failed() {
                true => self.emphasis.style("31", &ending),
                false => self.emphasis.faint(&ending),
            });
        }
        let reason = block.row.text("denial_reason");
        if !reason.is_empty() {
            lines.extend(indented(
                "  ",
                prose::plain(reason, width.saturating_sub(2)),
            ));
        }
        let changed = block.changed_lines();
        if self.tools_in_full && !changed.is_empty() {
            for (mark, line) in &changed {
                let line = format!("  {mark} {}", sanitize(line));
                lines.push(match mark {
                    '+' => self.emphasis.style("32", &line),
                    '-' => self.emphasis.style("31", &line),
                    _ => self.emphasis.faint(&line),
                });
            }
        } else if !changed.is_empty() {
            let count = |of: char| changed.iter().filter(|(mark, _)| *mark == of).count();
            let counts = format!("  +{} -{}", count('+'), count('-'));
            lines.extend(self.dimmed(&[counts]));
        } else {
            if self.tools_in_full {
                let input = prose::plain(block.row.text("input_json"), width.saturating_sub(2));
                lines.extend(self.dimmed(&indented("  ", input)));
            }
            let result = prose::plain(block.row.text("result"), width.saturating_sub(4));
            let result = self.shortened(result, RESULT_LINES);
            lines.extend(self.dimmed(&indented("  │ ", result)));
        }
        for agent in &block.agents {
            lines.extend(self.agent(agent, width));
        }
        lines
    }

    fn agent(&self, agent: &Agent, width: usize) -> Vec<String> {
        let name = format!("◆ sub-agent {}", sanitize(&agent.name()));
        let mut lines = prose::plain(&name, width);
        for line in &mut lines {
            *line = self.emphasis.style("1", line);
        }
        lines.extend(indented(
            "  ",
            self.thread(&agent.messages, width.saturating_sub(2)),
        ));
        lines
    }

    /// The first lines, and how many were left out.
    fn shortened(&self, mut lines: Vec<String>, most: usize) -> Vec<String> {
        // A note about one line takes as much room as the line.
        if !self.tools_in_full && lines.len() > most + 1 {
            let left_out = lines.len() - most;
            lines.truncate(most);
            lines.push(format!("… {} more lines", grouped(left_out as i64)));
        }
        lines
    }

    fn dimmed(&self, lines: &[String]) -> Vec<String> {
        lines.iter().map(|line| self.emphasis.faint(line)).collect()
    }
}

fn indented(indent: &str, lines: Vec<String>) -> Vec<String> {
    let indent_line = |line: String| match line.is_empty() {
        true => line,
        false => format!("{indent}{line}"),
    };
    lines.into_iter().map(indent_line).collect()
}
