//! A session as one self-contained HTML page. HTML in Markdown stays text, links lead only to the web, and images are not
//! loaded.

use super::{Agent, Block, Message, Part, Session, prose};
use crate::html::{self, escape};
use crate::terminal::sanitize;
use pulldown_cmark::{Event, Parser, Tag, TagEnd, html as markup};
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

pub fn render(session: &Session) -> String {
    let mut page = format!("<header>\n<h1>{}</h1>\n", escape(session.title()));
    for line in session.summary() {
        let _ = writeln!(page, "<p>{}</p>", escape(&line));
    }
    let id = escape(session.facts.text("session_id"));
    let _ = writeln!(page, "<p><code>claude --resume {id}</code></p>\n</header>");
    contents(&mut page, session);
    page += "<main>\n";
    thread(&mut page, &session.messages);
    for agent in &session.agents {
        sub_agent(&mut page, agent);
    }
    page += "</main>";
    html::page(session.title(), STYLE, &page)
}

/// Links to the prompts.
fn contents(page: &mut String, session: &Session) {
    let prompts: Vec<(String, &str)> = session
        .messages
        .iter()
        .filter(|message| message.speaker() == "You")
        .filter_map(|message| {
            let mut parts = message
                .blocks
                .iter()
                .filter_map(|block| message.part(block));
            parts.find_map(|part| match part {
                Part::Prompt(text) => Some((anchor(message), text)),
                _ => None,
            })
        })
        .collect();
    if prompts.len() < 2 {
        return;
    }
    *page += "<nav><details><summary>Prompts</summary><div><ol>\n";
    for (anchor, text) in prompts {
        let line = text.lines().find(|line| !line.trim().is_empty());
        let line: String = line.unwrap_or_default().chars().take(100).collect();
        let _ = writeln!(page, "<li><a href=\"#{anchor}\">{}</a></li>", escape(&line));
    }
    *page += "</ol></div></details></nav>\n";
}

fn thread(page: &mut String, messages: &[Message]) {
    let mut speaker = String::new();
    let mut is_open = false;
    for message in messages {
        let said_by = message.speaker();
        let is_turn = message.turn_cost_usd.is_some();
        let anchor = anchor(message);
        if said_by == speaker && !is_turn {
            let _ = writeln!(page, "<span id=\"{anchor}\"></span>");
        } else {
            if is_open {
                *page += "</article>\n";
            }
            is_open = true;
            let class = if said_by.starts_with("You") {
                "you"
            } else {
                "other"
            };
            let cost = message
                .turn_cost_usd
                .map(|cost| format!(" · turn ${}", crate::terminal::money(cost)));
            let _ = writeln!(
                page,
                "<article id=\"{anchor}\" class=\"{class}\">\n<h2>{} <small>{}{}</small> <a href=\"#{anchor}\" \
                 aria-label=\"Link to this message\">#</a></h2>",
                escape(&said_by),
                escape(message.row.text("sent_at_local")),
                cost.unwrap_or_default(),
            );
            speaker = said_by;
        }
        for part in message
            .blocks
            .iter()
            .filter_map(|block| message.part(block))
        {
            match part {
                Part::Prompt(text) => {
                    let _ = writeln!(
                        page,
                        "<div class=\"prompt\">{}</div>",
                        escape(text.trim_end())
                    );
                }
                Part::Response(text) => {
                    let _ = writeln!(page, "<div class=\"response\">{}</div>", markdown(text));
                }
                Part::Thinking(text) => fold(page, "", "thinking", &markdown(text)),
                Part::Machine(kind, text) => fold(page, "", &escape(&kind), &preformatted(text)),
                Part::Attachment(kind, media_type) => {
                    let _ = writeln!(page, "<p>[{} {}]</p>", escape(kind), escape(media_type));
                }
                Part::Call(block) => call(page, block),
            }
        }
    }
    if is_open {
        *page += "</article>\n";
    }
}

/// Identifies a message in the page, and stays the same when the session grows.
fn anchor(message: &Message) -> String {
    match message.row.text("uuid") {
        "" => format!("message-{}", message.row.number("message_id")),
        uuid => format!("message-{}", escape(uuid)),
    }
}

fn call(page: &mut String, block: &Block) {
    let call = block.call();
    let (name, what) = call.split_once(": ").unwrap_or((&call, ""));
    let mut summary = format!("<b>{}</b> {}", escape(name), escape(what));
    if let Some(ending) = block.ending() {
        let class = if block.has_failed() {
            "failed"
        } else {
            "ended"
        };
        let _ = write!(summary, " <em class=\"{class}\">{}</em>", escape(&ending));
    }
    let mut body = String::new();
    let changed = block.changed_lines();
    if changed.is_empty() {
        body += &preformatted(&pretty(block.row.text("input_json")));
    } else {
        let count = |of: char| changed.iter().filter(|(mark, _)| *mark == of).count();
        let _ = write!(summary, " +{} -{}", count('+'), count('-'));
        body += "<pre class=\"diff\">";
        for (mark, line) in &changed {
            let class = match mark {
                '+' => "added",
                '-' => "removed",
                '@' => "hunk",
                _ => "same",
            };
            let _ = write!(
                body,
                "<span class=\"{class}\">{mark} {}</span>",
                escape(line)
            );
        }
        body += "</pre>";
    }
    let reason = block.row.text("denial_reason");
    if !reason.is_empty() {
        let _ = write!(body, "<div class=\"prompt\">{}</div>", escape(reason));
    }
    body += &preformatted(block.row.text("result"));
    fold(page, "", &summary, &body);
    for agent in &block.agents {
        sub_agent(page, agent);
    }
}

fn sub_agent(page: &mut String, agent: &Agent) {
    let mut inner = String::new();
    thread(&mut inner, &agent.messages);
    let summary = format!("<b>sub-agent</b> {}", escape(&agent.name()));
    fold(page, "agent", &summary, &inner);
}

fn fold(page: &mut String, class: &str, summary: &str, body: &str) {
    if !body.is_empty() {
        *page += &html::fold(class, summary, body);
    }
}

fn preformatted(text: &str) -> String {
    match text.trim().is_empty() {
        true => String::new(),
        false => format!("<pre>{}</pre>", escape(text.trim_end())),
    }
}

/// JSON with a line per value.
fn pretty(json: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(json).ok();
    value
        .and_then(|value| serde_json::to_string_pretty(&value).ok())
        .unwrap_or_else(|| json.to_string())
}

fn markdown(text: &str) -> String {
    let text = sanitize(text);
    let events = Parser::new_ext(&text, prose::OPTIONS).map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        // An image would be loaded: it becomes a link.
        Event::Start(Tag::Image {
            link_type,
            dest_url,
            title,
            id,
        })
        | Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => Event::Start(Tag::Link {
            link_type,
            dest_url: if is_web(&dest_url) {
                dest_url
            } else {
                "".into()
            },
            title,
            id,
        }),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        event => event,
    });
    let mut page = String::new();
    markup::push_html(&mut page, events);
    page
}

fn is_web(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    ["https://", "http://", "mailto:", "#"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_in_markdown_stays_text() {
        let page = markdown("<script>alert(1)</script>\n\na <img src=x onerror=alert(1)> **b**");
        assert!(
            !page.contains("<script") && !page.contains("<img"),
            "{page}"
        );
        assert!(page.contains("<strong>b</strong>"));
    }

    #[test]
    fn links_lead_to_the_web_and_images_are_not_loaded() {
        let page = markdown(
            "[a](javascript:alert) ![b](http://x.test/b.png) [c](https://x.test) <data:text/html,x>",
        );
        assert!(
            !page.contains("javascript") && !page.contains("<img"),
            "{page}"
        );
        assert!(!page.contains("href=\"data"), "{page}");
        assert!(page.contains("<a href=\"https://x.test\">c</a>"), "{page}");
    }
}
