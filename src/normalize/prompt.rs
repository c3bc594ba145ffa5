//! Classifies the text of a user record: a person or a program may have written it. The first rule that matches decides.

use super::machine_prompt::{has_closed_tag, machine_prompt};
use super::truncate::{truncate, truncate_str};
use std::borrow::Cow;

/// What a record says about its text.
#[derive(Default)]
pub struct PromptContext<'a> {
    /// The type of the record.
    pub record: &'a str,
    pub subtype: Option<&'a str>,
    /// `commandMode` of a queued attachment.
    pub command_mode: Option<&'a str>,
    pub is_queued_command: bool,
    pub has_tool_result: bool,
    /// Whether the content has an image or a document.
    pub has_media: bool,
    pub is_compact_summary: bool,
    pub is_meta: bool,
    /// Whether the record is of a sidechain or in the file of a sub-agent.
    pub is_sub_agent: bool,
    /// Whether the record has no parent.
    pub is_first: bool,
    /// Whether the record has `planContent`.
    pub has_plan: bool,
    /// `origin.kind`
    pub origin: Option<&'a str>,
    /// `promptSource`
    pub prompt_source: Option<&'a str>,
    pub entrypoint: Option<&'a str>,
    /// The text blocks of the content, joined with newlines.
    pub text: &'a str,
}

/// The classification of a prompt.
#[derive(Debug, PartialEq, Eq)]
pub struct Prompt {
    /// human, slash_command, bash_command, memory_note, sdk_prompt, agent_prompt, agent_message, tool_result,
    /// compact_summary, interrupt or machine.
    pub kind: &'static str,
    /// Which program wrote the text, if `kind` is machine.
    pub machine: Option<Cow<'static, str>>,
    /// What the person typed, if it is not the whole text. Truncated, as are the arguments.
    pub text: Option<String>,
    /// The name of a slash command, with the slash.
    pub command_name: Option<String>,
    pub command_arguments: Option<String>,
    /// The session that made the plan, if the text hands over a plan.
    pub plan_session_id: Option<String>,
}

impl Prompt {
    pub fn new(kind: &'static str) -> Prompt {
        Prompt {
            kind,
            machine: None,
            text: None,
            command_name: None,
            command_arguments: None,
            plan_session_id: None,
        }
    }

    pub fn machine(program: impl Into<Cow<'static, str>>) -> Prompt {
        Prompt {
            machine: Some(program.into()),
            ..Prompt::new("machine")
        }
    }
}

/// Classifies a record, or returns `None` if it is not a prompt.
pub fn classify(context: &PromptContext<'_>) -> Option<Prompt> {
    let origin = context.origin.filter(|origin| *origin != "human");
    if context.record == "attachment" {
        if !context.is_queued_command {
            return None;
        }
        if context.command_mode == Some("task-notification") {
            return Some(Prompt::machine("task_notification"));
        }
        if context.is_meta {
            return Some(Prompt::machine("meta"));
        }
    } else if context.record == "system" && context.subtype == Some("local_command") {
        // Since 2.0 a command that does not need the model is a system record, the only record of what the person typed.
        return slash_command(strip_context(context.text).as_ref());
    } else if context.record != "user" {
        return None;
    } else if context.has_tool_result {
        return Some(Prompt::new("tool_result"));
    } else if context.is_compact_summary {
        return Some(Prompt::new("compact_summary"));
    } else if context.is_meta {
        let machine = machine_prompt(context.text, context.has_plan)
            .unwrap_or_else(|| Prompt::machine("meta"));
        return Some(match machine.kind {
            "machine" => machine,
            _ => Prompt::machine("meta"),
        });
    } else if context.is_sub_agent {
        return Some(Prompt::new(match context.origin {
            _ if context.is_first => "agent_prompt",
            Some("coordinator" | "peer") => "agent_message",
            Some("human") => "human",
            _ => "agent_prompt",
        }));
    }
    if let Some(origin) = origin {
        return Some(Prompt::machine(origin.replace('-', "_")));
    }
    if context.origin.is_none() {
        match context.prompt_source {
            Some("system") => return Some(Prompt::machine("system")),
            Some("sdk") => return Some(Prompt::new("sdk_prompt")),
            _ => {}
        }
    }
    Some(classify_text(context))
}

/// Classifies a text block in the same record as a tool result: the person may have typed it meanwhile (2.1.19 to 2.1.37).
pub fn classify_with_result(text: &str) -> &'static str {
    let context = PromptContext {
        record: "user",
        text,
        ..PromptContext::default()
    };
    classify_text(&context).kind
}

/// Classifies a text from the queue or the history, where a command is as the person typed it, without tags.
pub fn classify_typed(text: &str) -> Prompt {
    let text = text.trim();
    // How versions before 2.1.50 queued a task notification.
    if text.starts_with("{\"task_id\"") {
        return Prompt::machine("task_notification");
    }
    if let Some(command) = text.strip_prefix('!').filter(|command| !command.is_empty()) {
        return Prompt {
            text: Some(truncate_str(command).to_string()),
            ..Prompt::new("bash_command")
        };
    }
    typed_command(text).unwrap_or_else(|| {
        classify_text(&PromptContext {
            record: "user",
            text,
            ..PromptContext::default()
        })
    })
}

/// A slash and a word without another slash, which would be a path.
fn typed_command(text: &str) -> Option<Prompt> {
    let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let word = name.strip_prefix('/')?;
    if !word.starts_with(|first: char| first.is_ascii_alphabetic()) || word.contains('/') {
        return None;
    }
    let arguments = arguments.trim();
    Some(Prompt {
        command_name: Some(truncate_str(name).to_string()),
        command_arguments: (!arguments.is_empty()).then(|| truncate_str(arguments).to_string()),
        ..Prompt::new("slash_command")
    })
}

fn classify_text(context: &PromptContext<'_>) -> Prompt {
    let text = strip_context(context.text);
    if text.is_empty() {
        return match context.has_media {
            true => Prompt::new("human"),
            false if context.text.trim_start().starts_with("<ide_") => {
                Prompt::machine("ide_context")
            }
            false if context.text.trim().is_empty() => Prompt::machine("empty"),
            false => Prompt::machine("system_reminder"),
        };
    }
    if let Some(command) = slash_command(&text) {
        return command;
    }
    if text.starts_with("<bash-input>") {
        return Prompt {
            text: Some(truncate_str(element(&text, "bash-input").unwrap_or_default()).to_string()),
            ..Prompt::new("bash_command")
        };
    }
    if text.starts_with("<user-memory-input>") {
        return Prompt {
            text: Some(
                truncate_str(element(&text, "user-memory-input").unwrap_or_default()).to_string(),
            ),
            ..Prompt::new("memory_note")
        };
    }
    if let Some(machine) = machine_prompt(&text, context.has_plan) {
        return machine;
    }
    if has_closed_tag(&text) {
        return Prompt::machine("unknown_tag");
    }
    let is_program = matches!(context.entrypoint, Some("sdk-cli" | "sdk-ts" | "sdk-py"));
    let kind = match is_program && context.origin.is_none() {
        true => "sdk_prompt",
        false => "human",
    };
    Prompt {
        text: (text != context.text).then(|| truncate(text).into_owned()),
        ..Prompt::new(kind)
    }
}

/// Strips what programs put in front of the text that the person typed.
fn strip_context(text: &str) -> Cow<'_, str> {
    let mut rest = text.trim_start_matches('\u{feff}').trim();
    while let Some(tag) = [
        "system-reminder",
        "ide_opened_file",
        "ide_selection",
        "ide_diagnostics",
    ]
    .iter()
    .find(|tag| opens_with(rest, tag))
    {
        match rest.split_once(&format!("</{tag}>")) {
            Some((_, after)) => rest = after.trim(),
            None => break,
        }
    }
    match rest.contains("<pasted_content") {
        true => Cow::Owned(unwrap_pastes(truncate_str(rest))),
        false => Cow::Borrowed(rest),
    }
}

/// Removes the tags around pasted content.
fn unwrap_pastes(text: &str) -> String {
    let mut unwrapped = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<pasted_content") {
        let Some(end) = rest[at..].find('>') else {
            break;
        };
        unwrapped.push_str(&rest[..at]);
        rest = &rest[at + end + 1..];
    }
    unwrapped.push_str(rest);
    unwrapped
        .replace("</pasted_content>", "")
        .trim()
        .to_string()
}

fn opens_with(text: &str, tag: &str) -> bool {
    text.strip_prefix('<')
        .and_then(|rest| rest.strip_prefix(tag))
        .is_some_and(|rest| rest.starts_with(['>', ' ', '\n']))
}

/// The content of the first element with a tag.
fn element<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (content, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(content)
}

/// Parses a prompt that consists of command tags, in any order.
fn slash_command(text: &str) -> Option<Prompt> {
    if !text.starts_with("<command-name>") && !text.starts_with("<command-message>") {
        return None;
    }
    let mut rest = text;
    let (mut name, mut arguments, mut message) = (None, None, None);
    while !rest.is_empty() {
        let tag = rest.strip_prefix("<command-")?.split_once('>')?.0;
        let closing = format!("</command-{tag}>");
        let (content, after) = rest["<command-".len() + tag.len() + 1..].split_once(&closing)?;
        match tag {
            "name" => name = Some(content.trim()),
            "args" => arguments = Some(content.trim()),
            "message" => message = Some(content.trim()),
            _ => {}
        }
        rest = after.trim_start();
    }
    let name = name.or(message)?;
    let name = truncate_str(name);
    let arguments = arguments
        .filter(|arguments| !arguments.is_empty())
        .map(truncate_str);
    Some(Prompt {
        command_name: Some(format!("/{}", name.trim_start_matches('/'))),
        command_arguments: arguments.map(str::to_string),
        text: Some(match arguments {
            Some(arguments) => format!("/{} {arguments}", name.trim_start_matches('/')),
            None => format!("/{}", name.trim_start_matches('/')),
        }),
        ..Prompt::new("slash_command")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> PromptContext<'_> {
        PromptContext {
            record: "user",
            text,
            ..PromptContext::default()
        }
    }

    fn kind(context: PromptContext<'_>) -> &'static str {
        classify(&context).map_or("", |prompt| prompt.kind)
    }

    fn machine(text: &str) -> String {
        let prompt = classify(&user(text)).unwrap();
        format!("{} {}", prompt.kind, prompt.machine.unwrap_or_default())
    }

    #[test]
    fn plain_text_is_human() {
        assert_eq!(kind(user("fix the test")), "human");
        assert_eq!(kind(user("why does <div> not close?")), "human");
        assert_eq!(kind(user("<div>is this right?")), "human");
    }

    #[test]
    fn a_queued_prompt_is_human_and_a_queued_notification_is_not() {
        let queued = |mode| PromptContext {
            record: "attachment",
            is_queued_command: true,
            command_mode: Some(mode),
            ..user("do not rename the fields")
        };
        assert_eq!(kind(queued("prompt")), "human");
        assert_eq!(kind(queued("task-notification")), "machine");
        assert_eq!(
            kind(PromptContext {
                origin: Some("peer"),
                ..queued("prompt")
            }),
            "machine"
        );
        assert_eq!(
            kind(PromptContext {
                is_meta: true,
                ..queued("prompt")
            }),
            "machine"
        );
        assert_eq!(
            kind(PromptContext {
                record: "attachment",
                ..PromptContext::default()
            }),
            ""
        );
        assert_eq!(
            kind(PromptContext {
                record: "assistant",
                ..user("hello")
            }),
            ""
        );
    }

    #[test]
    fn a_record_with_a_tool_result_is_a_tool_result() {
        let result = PromptContext {
            has_tool_result: true,
            is_meta: true,
            ..user("")
        };
        assert_eq!(kind(result), "tool_result");
    }

    #[test]
    fn meta_wins_over_a_human_origin() {
        assert_eq!(
            kind(PromptContext {
                is_meta: true,
                origin: Some("human"),
                ..user("text")
            }),
            "machine"
        );
    }

    #[test]
    fn a_sub_agent_gets_a_prompt_first_and_messages_later() {
        let sub_agent = |origin| PromptContext {
            is_sub_agent: true,
            origin,
            ..user("look at the tests")
        };
        assert_eq!(
            kind(PromptContext {
                is_first: true,
                ..sub_agent(Some("coordinator"))
            }),
            "agent_prompt"
        );
        assert_eq!(kind(sub_agent(Some("coordinator"))), "agent_message");
        assert_eq!(kind(sub_agent(Some("human"))), "human");
        assert_eq!(kind(sub_agent(None)), "agent_prompt");
    }

    #[test]
    fn origin_and_source_distinguish_programs_from_people() {
        assert_eq!(
            kind(PromptContext {
                origin: Some("channel"),
                ..user("hi")
            }),
            "machine"
        );
        assert_eq!(
            kind(PromptContext {
                origin: Some("human"),
                prompt_source: Some("sdk"),
                ..user("hi")
            }),
            "human"
        );
        assert_eq!(
            kind(PromptContext {
                prompt_source: Some("system"),
                ..user("hi")
            }),
            "machine"
        );
        assert_eq!(
            kind(PromptContext {
                prompt_source: Some("sdk"),
                ..user("hi")
            }),
            "sdk_prompt"
        );
        assert_eq!(
            kind(PromptContext {
                entrypoint: Some("sdk-cli"),
                ..user("hi")
            }),
            "sdk_prompt"
        );
        assert_eq!(
            kind(PromptContext {
                entrypoint: Some("cli"),
                ..user("hi")
            }),
            "human"
        );
    }

    #[test]
    fn context_in_front_of_a_prompt_is_stripped() {
        let text =
            "<system-reminder>be kind</system-reminder>\n<ide_selection>x</ide_selection>fix it";
        let prompt = classify(&user(text)).unwrap();
        assert_eq!(
            (prompt.kind, prompt.text.as_deref()),
            ("human", Some("fix it"))
        );
        assert_eq!(
            machine("<system-reminder>only this</system-reminder>"),
            "machine system_reminder"
        );
        assert_eq!(
            machine("<ide_opened_file>a</ide_opened_file>"),
            "machine ide_context"
        );
        let pasted = classify(&user(
            "see <pasted_content file=\"a\">the text</pasted_content>",
        ))
        .unwrap();
        assert_eq!(
            (pasted.kind, pasted.text.as_deref()),
            ("human", Some("see the text"))
        );
    }

    #[test]
    fn a_prompt_with_only_an_image_is_human() {
        assert_eq!(
            kind(PromptContext {
                has_media: true,
                ..user("")
            }),
            "human"
        );
        assert_eq!(machine(""), "machine empty");
    }

    #[test]
    fn the_tags_of_a_slash_command_can_have_any_order() {
        for text in [
            "<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>the diff</command-args>",
            "<command-message>review is running…</command-message>\n<command-name>/review</command-name><command-args>the diff</command-args>",
        ] {
            let prompt = classify(&user(text)).unwrap();
            assert_eq!(prompt.kind, "slash_command");
            assert_eq!(prompt.command_name.as_deref(), Some("/review"));
            assert_eq!(prompt.command_arguments.as_deref(), Some("the diff"));
        }
        assert_eq!(
            machine("<command-name>/x</command-name> and more"),
            "machine unknown_tag"
        );
    }

    #[test]
    fn a_local_command_is_a_prompt_and_its_output_is_not() {
        let local = |text| PromptContext {
            record: "system",
            subtype: Some("local_command"),
            text,
            ..PromptContext::default()
        };
        assert_eq!(
            kind(local(
                "<command-name>/mcp</command-name>\n <command-message>mcp</command-message>\n <command-args></command-args>"
            )),
            "slash_command"
        );
        assert_eq!(
            kind(local("<local-command-stdout>done</local-command-stdout>")),
            ""
        );
    }

    #[test]
    fn bash_commands_and_memory_notes_are_prompts() {
        let bash = classify(&user("<bash-input>ls -l</bash-input>")).unwrap();
        assert_eq!(
            (bash.kind, bash.text.as_deref()),
            ("bash_command", Some("ls -l"))
        );
        assert_eq!(
            kind(user("<user-memory-input>use tabs</user-memory-input>")),
            "memory_note"
        );
        assert_eq!(
            machine("<bash-stdout>a</bash-stdout>"),
            "machine bash_output"
        );
    }

    #[test]
    fn an_interrupt_is_matched_exactly() {
        assert_eq!(kind(user("[Request interrupted by user]")), "interrupt");
        assert_eq!(
            kind(user("[Request interrupted by user for tool use]")),
            "interrupt"
        );
        assert_eq!(kind(user("[Request interrupted by user] why?")), "human");
    }

    #[test]
    fn machine_prompts_are_matched_at_the_start() {
        for (text, expected) in [
            (
                "<local-command-stdout>done</local-command-stdout>",
                "machine command_output",
            ),
            (
                "Caveat: The messages below were generated by the user while running local commands. DO NOT",
                "machine command_caveat",
            ),
            (
                "<task-notification>\n<task-id>a1</task-id>",
                "machine task_notification",
            ),
            (
                "<teammate-message teammate_id=\"x\">hi</teammate-message>",
                "machine teammate_message",
            ),
            (
                "Another Claude session sent a message:\nhi",
                "machine peer_message",
            ),
            ("Stop hook feedback:\n- no", "machine hook"),
            ("Operation stopped by hook: no", "machine hook"),
            ("Continue from where you left off.", "machine resume_repair"),
            ("# Autonomous loop tick\n", "machine timer"),
            ("[Image: source: /a.png]", "machine image_note"),
            ("Base directory for this skill: /s", "machine skill_body"),
            (
                "2 background agents were stopped by the user",
                "machine notice",
            ),
            (
                "Background agent \"x\" was stopped by the user",
                "machine notice",
            ),
            ("<new-thing a=\"b\">x</new-thing>", "machine unknown_tag"),
        ] {
            assert_eq!(machine(text), expected, "{text}");
        }
        assert_eq!(kind(user("2 background agents are too many")), "human");
    }

    #[test]
    fn a_compaction_summary_does_not_need_its_flag() {
        assert_eq!(
            kind(PromptContext {
                is_compact_summary: true,
                ..user("Summary")
            }),
            "compact_summary"
        );
        let text =
            "This session is being continued from a previous conversation that ran out of context.";
        assert_eq!(kind(user(text)), "compact_summary");
    }

    #[test]
    fn a_handed_over_plan_names_the_session_that_made_it() {
        let text = "Implement the following plan:\n\n# Plan\n\nIf you need specific details from before exiting plan mode (like exact code), read the full transcript at: /h/.claude/projects/-w/5e550001-0000-4000-8000-000000000001.jsonl";
        let prompt = classify(&user(text)).unwrap();
        assert_eq!(prompt.machine.as_deref(), Some("plan_handoff"));
        assert_eq!(
            prompt.plan_session_id.as_deref(),
            Some("5e550001-0000-4000-8000-000000000001")
        );
        assert_eq!(
            kind(user("Implement the following plan: buy milk")),
            "human"
        );
    }
}
