//! Who wrote the text of a user record: the person, or a program in the person's place. One procedure, first match wins.

use super::truncate::{truncate, truncate_str};
use std::borrow::Cow;

/// What is asked about.
#[derive(Default)]
pub struct Question<'a> {
    /// The record's type.
    pub record: &'a str,
    /// The record's subtype.
    pub subtype: Option<&'a str>,
    /// Of a queued attachment: `commandMode`.
    pub command_mode: Option<&'a str>,
    /// Whether the attachment is a queued command.
    pub is_queued_command: bool,
    /// Whether the content has a tool result.
    pub has_tool_result: bool,
    /// Whether the content has an image or a document.
    pub has_media: bool,
    pub is_compact_summary: bool,
    pub is_meta: bool,
    /// Whether it stands in a sidechain or an agent's file.
    pub is_agents: bool,
    /// Whether it is the first record of an agent.
    pub is_first: bool,
    /// Whether it has planContent.
    pub has_plan: bool,
    /// `origin.kind`
    pub origin: Option<&'a str>,
    /// `promptSource`
    pub prompt_source: Option<&'a str>,
    pub entrypoint: Option<&'a str>,
    /// The text of the content; of several the beginning, joined by newlines.
    pub text: &'a str,
}

/// The answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Prompt {
    /// human, slash_command, bash_command, memory_note, sdk_prompt, agent_prompt, agent_message, tool_result,
    /// compact_summary, interrupt or machine.
    pub kind: &'static str,
    /// Of machine texts: what wrote it.
    pub machine: Option<Cow<'static, str>>,
    /// What the person typed, where it is not all of the text. This and the arguments are the beginning of it.
    pub text: Option<String>,
    /// Of slash commands: the name with its slash.
    pub command_name: Option<String>,
    /// Of slash commands: what stands behind the name.
    pub command_arguments: Option<String>,
    /// The session whose plan is handed over here.
    pub plan_session_id: Option<String>,
}

impl Prompt {
    fn of(kind: &'static str) -> Prompt {
        Prompt {
            kind,
            machine: None,
            text: None,
            command_name: None,
            command_arguments: None,
            plan_session_id: None,
        }
    }

    fn machine(by: impl Into<Cow<'static, str>>) -> Prompt {
        Prompt {
            machine: Some(by.into()),
            ..Prompt::of("machine")
        }
    }
}

/// Answers, or says nothing of what is no prompt.
pub fn classify(question: &Question<'_>) -> Option<Prompt> {
    let origin = question.origin.filter(|origin| *origin != "human");
    if question.record == "attachment" {
        if !question.is_queued_command {
            return None;
        }
        if question.command_mode == Some("task-notification") {
            return Some(Prompt::machine("task_notification"));
        }
        if question.is_meta {
            return Some(Prompt::machine("meta"));
        }
    } else if question.record == "system" && question.subtype == Some("local_command") {
        // Since 2.0 a command that needs no model is a system record, and what the person typed stands nowhere else.
        return slash_command(typed(question.text).as_ref());
    } else if question.record != "user" {
        return None;
    } else if question.has_tool_result {
        return Some(Prompt::of("tool_result"));
    } else if question.is_compact_summary {
        return Some(Prompt::of("compact_summary"));
    } else if question.is_meta {
        let machine = machine_text(question.text, question.has_plan)
            .unwrap_or_else(|| Prompt::machine("meta"));
        return Some(match machine.kind {
            "machine" => machine,
            _ => Prompt::machine("meta"),
        });
    } else if question.is_agents {
        return Some(Prompt::of(match question.origin {
            _ if question.is_first => "agent_prompt",
            Some("coordinator" | "peer") => "agent_message",
            Some("human") => "human",
            _ => "agent_prompt",
        }));
    }
    if let Some(origin) = origin {
        return Some(Prompt::machine(origin.replace('-', "_")));
    }
    if question.origin.is_none() {
        match question.prompt_source {
            Some("system") => return Some(Prompt::machine("system")),
            Some("sdk") => return Some(Prompt::of("sdk_prompt")),
            _ => {}
        }
    }
    Some(classify_text(question))
}

/// Who wrote a text beside a tool result: the person meanwhile (2.1.19 to 2.1.37), or a program.
pub fn classify_beside(text: &str) -> &'static str {
    let question = Question {
        record: "user",
        text,
        ..Question::default()
    };
    classify_text(&question).kind
}

fn classify_text(question: &Question<'_>) -> Prompt {
    let text = typed(question.text);
    if text.is_empty() {
        return match question.has_media {
            true => Prompt::of("human"),
            false if question.text.trim_start().starts_with("<ide_") => {
                Prompt::machine("ide_context")
            }
            false if question.text.trim().is_empty() => Prompt::machine("empty"),
            false => Prompt::machine("system_reminder"),
        };
    }
    if let Some(command) = slash_command(&text) {
        return command;
    }
    if text.starts_with("<bash-input>") {
        return Prompt {
            text: Some(truncate_str(inside(&text, "bash-input").unwrap_or_default()).to_string()),
            ..Prompt::of("bash_command")
        };
    }
    if text.starts_with("<user-memory-input>") {
        return Prompt {
            text: Some(
                truncate_str(inside(&text, "user-memory-input").unwrap_or_default()).to_string(),
            ),
            ..Prompt::of("memory_note")
        };
    }
    if let Some(machine) = machine_text(&text, question.has_plan) {
        return machine;
    }
    if is_closed_tag(&text) {
        return Prompt::machine("unknown_tag");
    }
    let is_program = matches!(question.entrypoint, Some("sdk-cli" | "sdk-ts" | "sdk-py"));
    let kind = match is_program && question.origin.is_none() {
        true => "sdk_prompt",
        false => "human",
    };
    Prompt {
        text: (text != question.text).then(|| truncate(text).into_owned()),
        ..Prompt::of(kind)
    }
}

/// What is left of a text without what programs put in front of it.
fn typed(text: &str) -> Cow<'_, str> {
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
            Some((_, behind)) => rest = behind.trim(),
            None => break,
        }
    }
    match rest.contains("<pasted_content") {
        true => Cow::Owned(unwrap_pastes(truncate_str(rest))),
        false => Cow::Borrowed(rest),
    }
}

/// Keeps what a person pasted and drops the tags around it.
fn unwrap_pastes(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<pasted_content") {
        let Some(end) = rest[at..].find('>') else {
            break;
        };
        kept.push_str(&rest[..at]);
        rest = &rest[at + end + 1..];
    }
    kept.push_str(rest);
    kept.replace("</pasted_content>", "").trim().to_string()
}

fn opens_with(text: &str, tag: &str) -> bool {
    text.strip_prefix('<')
        .and_then(|rest| rest.strip_prefix(tag))
        .is_some_and(|rest| rest.starts_with(['>', ' ', '\n']))
}

/// What stands between a tag and its end.
fn inside<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = behind.split_once(&format!("</{tag}>"))?;
    Some(inside)
}

/// A text of command tags and nothing else, in whatever order.
fn slash_command(text: &str) -> Option<Prompt> {
    if !text.starts_with("<command-name>") && !text.starts_with("<command-message>") {
        return None;
    }
    let mut rest = text;
    let (mut name, mut arguments, mut message) = (None, None, None);
    while !rest.is_empty() {
        let tag = rest.strip_prefix("<command-")?.split_once('>')?.0;
        let closing = format!("</command-{tag}>");
        let (content, behind) = rest["<command-".len() + tag.len() + 1..].split_once(&closing)?;
        match tag {
            "name" => name = Some(content.trim()),
            "args" => arguments = Some(content.trim()),
            "message" => message = Some(content.trim()),
            _ => {}
        }
        rest = behind.trim_start();
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
        ..Prompt::of("slash_command")
    })
}

/// Texts that programs write, by how they begin. People quote them too, so they count at the start only.
const STARTS: &[(&str, &str)] = &[
    ("<local-command-stdout>", "command_output"),
    ("<local-command-stderr>", "command_output"),
    ("<local-command-caveat>", "command_caveat"),
    (
        "Caveat: The messages below were generated by the user while running local commands",
        "command_caveat",
    ),
    ("<bash-stdout>", "bash_output"),
    ("<bash-stderr>", "bash_output"),
    ("<bash-notification>", "bash_output"),
    ("<system-reminder>", "system_reminder"),
    ("<task-notification>", "task_notification"),
    ("<teammate-message", "teammate_message"),
    ("<agent-message", "agent_message"),
    ("<cross-session-message", "peer_message"),
    ("Another Claude session sent a message:", "peer_message"),
    (
        "Another Claude session sent a message while you were working:",
        "peer_message",
    ),
    (
        "A peer session sent a message while you were working:",
        "peer_message",
    ),
    ("Stop hook feedback:", "hook"),
    ("<user-prompt-submit-hook>", "hook"),
    ("Operation stopped by hook:", "hook"),
    ("<<autonomous-loop-dynamic>>", "timer"),
    ("# Autonomous loop check", "timer"),
    ("# Autonomous loop tick", "timer"),
    ("You're being invoked on a timer", "timer"),
    ("[Image: source: ", "image_note"),
    ("Base directory for this skill: ", "skill_body"),
    ("Background agent \"", "notice"),
    ("<fork-boilerplate>", "fork_boilerplate"),
    ("<tick>", "timer"),
    ("<channel ", "channel"),
    ("<mcp-resource-update", "mcp_resource_update"),
    ("<new-diagnostics>", "diagnostics"),
];

/// Texts that programs write, whole.
const WHOLE: &[(&str, &str)] = &[
    ("Continue from where you left off.", "resume_repair"),
    ("No response requested.", "resume_repair"),
];

fn machine_text(text: &str, has_plan: bool) -> Option<Prompt> {
    let text = text.trim();
    if [
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
    ]
    .contains(&text)
    {
        return Some(Prompt::of("interrupt"));
    }
    if text.starts_with("This session is being continued from a previous conversation") {
        return Some(Prompt::of("compact_summary"));
    }
    if text.starts_with("Implement the following plan:")
        && (has_plan || text.contains("If you need specific details from before exiting plan mode"))
    {
        return Some(Prompt {
            plan_session_id: plan_session(text),
            ..Prompt::machine("plan_handoff")
        });
    }
    if is_stop_notice(text) {
        return Some(Prompt::machine("notice"));
    }
    let whole = WHOLE.iter().find(|(whole, _)| *whole == text);
    let start = STARTS.iter().find(|(start, _)| text.starts_with(start));
    whole
        .or(start)
        .map(|(_, machine)| Prompt::machine(*machine))
}

/// `N background agents were stopped by the user`
fn is_stop_notice(text: &str) -> bool {
    let rest = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    rest.len() < text.len()
        && rest.starts_with(" background agent")
        && rest.contains(" stopped by the user")
}

/// The session that a handed-over plan comes from: the name of the transcript it points to.
fn plan_session(text: &str) -> Option<String> {
    let (_, path) = text.rsplit_once("read the full transcript at:")?;
    let path = path.trim().split_once(".jsonl")?.0;
    let name = path.rsplit(['/', '\\']).next()?;
    crate::discover::is_uuid(name).then(|| name.to_string())
}

/// Whether a text begins with a lower-case tag that is closed again.
fn is_closed_tag(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('<') else {
        return false;
    };
    let is_name = |character: char| {
        character.is_ascii_lowercase() || character.is_ascii_digit() || "-_".contains(character)
    };
    let name: String = rest
        .chars()
        .take_while(|character| is_name(*character))
        .collect();
    let behind = &rest[name.len()..];
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && behind.starts_with(['>', ' ', '\n'])
        && text.contains(&format!("</{name}>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Question<'_> {
        Question {
            record: "user",
            text,
            ..Question::default()
        }
    }

    fn kind(question: Question<'_>) -> &'static str {
        classify(&question).map_or("", |prompt| prompt.kind)
    }

    fn machine(text: &str) -> String {
        let prompt = classify(&user(text)).unwrap();
        format!("{} {}", prompt.kind, prompt.machine.unwrap_or_default())
    }

    #[test]
    fn plain_text_is_the_persons() {
        assert_eq!(kind(user("fix the test")), "human");
        assert_eq!(kind(user("why does <div> not close?")), "human");
        assert_eq!(kind(user("<div>is this right?")), "human");
    }

    #[test]
    fn a_queued_prompt_is_the_persons_and_a_queued_notification_is_not() {
        let queued = |mode| Question {
            record: "attachment",
            is_queued_command: true,
            command_mode: Some(mode),
            ..user("do not rename the fields")
        };
        assert_eq!(kind(queued("prompt")), "human");
        assert_eq!(kind(queued("task-notification")), "machine");
        assert_eq!(
            kind(Question {
                origin: Some("peer"),
                ..queued("prompt")
            }),
            "machine"
        );
        assert_eq!(
            kind(Question {
                is_meta: true,
                ..queued("prompt")
            }),
            "machine"
        );
        assert_eq!(
            kind(Question {
                record: "attachment",
                ..Question::default()
            }),
            ""
        );
        assert_eq!(
            kind(Question {
                record: "assistant",
                ..user("hello")
            }),
            ""
        );
    }

    #[test]
    fn a_carrier_is_a_tool_result_whatever_else_it_is() {
        let carrier = Question {
            has_tool_result: true,
            is_meta: true,
            ..user("")
        };
        assert_eq!(kind(carrier), "tool_result");
    }

    #[test]
    fn meta_wins_over_a_human_origin() {
        assert_eq!(
            kind(Question {
                is_meta: true,
                origin: Some("human"),
                ..user("text")
            }),
            "machine"
        );
    }

    #[test]
    fn an_agent_gets_a_prompt_first_and_messages_later() {
        let agents = |origin| Question {
            is_agents: true,
            origin,
            ..user("look at the tests")
        };
        assert_eq!(
            kind(Question {
                is_first: true,
                ..agents(Some("coordinator"))
            }),
            "agent_prompt"
        );
        assert_eq!(kind(agents(Some("coordinator"))), "agent_message");
        assert_eq!(kind(agents(Some("human"))), "human");
        assert_eq!(kind(agents(None)), "agent_prompt");
    }

    #[test]
    fn origin_and_source_tell_programs_from_people() {
        assert_eq!(
            kind(Question {
                origin: Some("channel"),
                ..user("hi")
            }),
            "machine"
        );
        assert_eq!(
            kind(Question {
                origin: Some("human"),
                prompt_source: Some("sdk"),
                ..user("hi")
            }),
            "human"
        );
        assert_eq!(
            kind(Question {
                prompt_source: Some("system"),
                ..user("hi")
            }),
            "machine"
        );
        assert_eq!(
            kind(Question {
                prompt_source: Some("sdk"),
                ..user("hi")
            }),
            "sdk_prompt"
        );
        assert_eq!(
            kind(Question {
                entrypoint: Some("sdk-cli"),
                ..user("hi")
            }),
            "sdk_prompt"
        );
        assert_eq!(
            kind(Question {
                entrypoint: Some("cli"),
                ..user("hi")
            }),
            "human"
        );
    }

    #[test]
    fn what_programs_put_in_front_of_a_prompt_is_not_part_of_it() {
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
    fn a_prompt_of_only_an_image_is_the_persons() {
        assert_eq!(
            kind(Question {
                has_media: true,
                ..user("")
            }),
            "human"
        );
        assert_eq!(machine(""), "machine empty");
    }

    #[test]
    fn a_slash_command_is_name_and_arguments_in_either_order() {
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
    fn a_local_command_is_the_persons_and_its_output_is_no_prompt() {
        let local = |text| Question {
            record: "system",
            subtype: Some("local_command"),
            text,
            ..Question::default()
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
    fn bash_mode_and_memory_notes_are_the_persons() {
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
    fn an_interrupt_is_exact() {
        assert_eq!(kind(user("[Request interrupted by user]")), "interrupt");
        assert_eq!(
            kind(user("[Request interrupted by user for tool use]")),
            "interrupt"
        );
        assert_eq!(kind(user("[Request interrupted by user] why?")), "human");
    }

    #[test]
    fn machine_texts_are_known_by_their_start() {
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
    fn a_compaction_summary_is_known_without_its_flag() {
        assert_eq!(
            kind(Question {
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
    fn a_plan_handed_over_names_the_session_that_made_it() {
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
