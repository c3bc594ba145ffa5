//! The outcome of a tool call. Known messages are matched at the start of a result, because transcripts about Claude Code quote
//! them.

use super::truncate::truncate_str;

#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// interrupted, user_rejected, permission_denied, hook_blocked, cancelled, unknown_outcome, timeout, invalid_input,
    /// error, backgrounded or ok. A call without a result is pending; only a view can
    /// know that.
    pub name: &'static str,
    /// Why the person rejected the call.
    pub denial_reason: Option<String>,
    /// Of a failed command.
    pub exit_code: Option<i64>,
}

/// The parts of a result that decide its outcome.
#[derive(Default)]
pub struct ResultFacts<'a> {
    /// The text that the model gets.
    pub content: &'a str,
    /// `toolUseResult` if it is a string.
    pub returned_text: Option<&'a str>,
    pub is_error: bool,
    /// `toolDenialKind`, since 2.1.204.
    pub denial_kind: Option<&'a str>,
    /// `userFeedback`
    pub feedback: Option<&'a str>,
    /// `toolUseResult.interrupted`
    pub is_interrupted: bool,
    /// Whether `toolUseResult.timedOutAfterMs` is present.
    pub is_timed_out: bool,
    /// Whether `toolUseResult.backgroundTaskId` is present, or its status is `async_launched`.
    pub is_background: bool,
}

const INTERRUPTED: &[&str] = &[
    "[Request interrupted by user for tool use]",
    "[Request interrupted by user]",
];

const REJECTED: &[&str] = &[
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "The agent proposed a plan that was rejected by the user.",
    "User chose to stay in plan mode and continue planning",
    "User rejected tool use",
    "Error: The user doesn't want",
];

const DENIED: &[&str] = &[
    "Permission to use ",
    "Permission for this tool use was denied",
    "Permission for this action was denied by the Claude Code auto mode classifier",
    "Claude requested permissions to ",
    "This command requires approval",
    "This Bash command contains multiple operations",
    "This PowerShell command",
];

const CANCELLED: &[&str] = &[
    "<tool_use_error>Cancelled: parallel tool call ",
    "<tool_use_error>Sibling tool call errored</tool_use_error>",
    "[Tool call skipped: ",
    "[Tool call did not complete: ",
];

const UNKNOWN: &[&str] = &[
    "[Tool call interrupted: the session ended before this call's result was recorded",
    "[Tool call result not in this copy: ",
    "[Tool result missing due to internal error]",
];

const INVALID: &[&str] = &[
    // Since 1.0.68. Older versions wrote the messages below without this tag.
    "<tool_use_error>",
    "InputValidationError:",
    "Blocked: sleep ",
    "cd to '",
    "Unknown skill:",
    "No such tool available:",
    "File has not been read yet",
    "String to replace not found in file",
];

/// What goes on in the background, in the words of a result without a structured one, as in the files of agents.
const BACKGROUND: &[&str] = &[
    "Async agent launched successfully.",
    "Command running in background with ID: ",
];

const REASONS: &[&str] = &[
    "To tell you how to proceed, the user said:\n",
    "The user provided the following reason for the rejection:",
];

pub fn outcome(facts: &ResultFacts<'_>) -> Outcome {
    let name = name(facts);
    Outcome {
        name,
        denial_reason: match name {
            "user_rejected" => denial_reason(facts),
            _ => None,
        },
        exit_code: match facts.is_error {
            true => exit_code(facts.content),
            false => None,
        },
    }
}

fn name(facts: &ResultFacts<'_>) -> &'static str {
    let content = facts.content.trim_start();
    let starts = |messages: &[&str]| messages.iter().any(|message| content.starts_with(message));
    let equals = |messages: &[&str]| {
        let returned = facts.returned_text.map(str::trim);
        messages
            .iter()
            .any(|message| content.trim_end() == *message || returned == Some(*message))
    };
    let denial = |kinds: &[&str]| facts.denial_kind.is_some_and(|kind| kinds.contains(&kind));
    let is_rejected_by_return = facts
        .returned_text
        .is_some_and(|text| REJECTED.iter().any(|start| text.starts_with(start)));

    if denial(&["interrupted"]) || equals(INTERRUPTED) || facts.is_interrupted {
        "interrupted"
    } else if denial(&["user-rejected"]) || starts(REJECTED) || is_rejected_by_return {
        "user_rejected"
    } else if denial(&[
        "permission-rule",
        "automode-blocked",
        "automode-unavailable",
    ]) || (facts.is_error && starts(DENIED))
    {
        "permission_denied"
    } else if facts.is_error && is_hook_block(content) {
        "hook_blocked"
    } else if denial(&["cancelled"]) || starts(CANCELLED) {
        "cancelled"
    } else if starts(UNKNOWN) {
        "unknown_outcome"
    } else if facts.is_timed_out || (facts.is_error && is_timeout(content)) {
        "timeout"
    } else if facts.is_error && is_security_block(content) {
        "security_blocked"
    } else if content.starts_with("<tool_use_error>")
        || (facts.is_error && (starts(INVALID) || is_ambiguous_edit(content)))
    {
        "invalid_input"
    } else if facts.is_error {
        "error"
    } else if facts.is_background || starts(BACKGROUND) {
        "backgrounded"
    } else {
        "ok"
    }
}

/// A refusal of Claude Code itself: `cd to '/etc' was blocked. For security, ...`.
fn is_security_block(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.contains(" was blocked. For security")
}

/// `PreToolUse:Bash hook error: [...`, or the wordings of 1.0.68 to 1.0.70.
fn is_hook_block(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let is_word = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let hook_error = line.split_once(" hook error: [").is_some_and(|(hook, _)| {
        let hook = hook
            .strip_prefix("PreToolUse")
            .or_else(|| hook.strip_prefix("PostToolUse"));
        hook.is_some_and(|rest| {
            rest.bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b':' || byte == b'_')
        })
    });
    let operation = line
        .split_once(" operation blocked by hook")
        .is_some_and(|(word, _)| is_word(word));
    hook_error
        || operation
        || line.starts_with("operation blocked by hook")
        || line.starts_with("hook stopped continuation:")
}

/// The message starts the result, or follows the exit code.
fn is_timeout(text: &str) -> bool {
    let message = match text.strip_prefix("Exit code ") {
        Some(rest) => rest.split_once('\n').map_or("", |(_, rest)| rest),
        None => text,
    };
    message.trim_start().starts_with("Command timed out after ")
}

/// `Found 3 matches of the string`
fn is_ambiguous_edit(text: &str) -> bool {
    text.strip_prefix("Found ")
        .and_then(|rest| rest.split_once(" matches of the string"))
        .is_some_and(|(number, _)| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// What the program appends to a reason.
const APPENDED: &str = "Note: The user's next message may contain a correction or preference.";

/// How the program sums up questions (AskUserQuestion) that the person wants to talk about, or to end.
const SUMMED_UP: &[&str] = &[
    "The user wants to clarify these questions",
    "The user has indicated they have provided enough answers",
];

fn denial_reason(facts: &ResultFacts<'_>) -> Option<String> {
    let written = [Some(facts.content), facts.returned_text]
        .into_iter()
        .flatten()
        .filter_map(|text| REASONS.iter().find_map(|wording| text.split_once(wording)))
        .map(|(_, reason)| reason);
    let mut reasons = facts.feedback.into_iter().chain(written);
    reasons.find_map(|reason| {
        let reason = reason.split(APPENDED).next().unwrap_or_default().trim();
        let reason = match SUMMED_UP.iter().any(|start| reason.starts_with(start)) {
            true => own_words(reason),
            false => reason.to_string(),
        };
        (!reason.is_empty()).then(|| truncate_str(&reason).to_string())
    })
}

/// The answers and notes in such a summary: `  Answer: ...` and `  User notes: ...` below each question.
fn own_words(summary: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut is_own = false;
    for line in summary.lines() {
        let first = ["  Answer: ", "  User notes: "]
            .iter()
            .find_map(|label| line.strip_prefix(label));
        is_own = first.is_some()
            || (is_own && !line.starts_with("- \"") && !line.starts_with("  (No answer provided)"));
        if is_own {
            words.push(first.unwrap_or(line));
        }
    }
    words.join("\n").trim().to_string()
}

/// `Exit code 1` at the start of an error; versions before 2.0 do not record it.
fn exit_code(content: &str) -> Option<i64> {
    let rest = content.trim_start().strip_prefix("Exit code ")?;
    let digits = rest
        .split(|character: char| !character.is_ascii_digit())
        .next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(content: &str) -> ResultFacts<'_> {
        ResultFacts {
            content,
            is_error: true,
            ..ResultFacts::default()
        }
    }

    fn outcome_of(content: &str) -> &'static str {
        outcome(&error(content)).name
    }

    #[test]
    fn each_message_has_its_outcome() {
        for (content, expected) in [
            ("[Request interrupted by user for tool use]", "interrupted"),
            (
                "The user doesn't want to proceed with this tool use. The tool use was rejected",
                "user_rejected",
            ),
            (
                "The user doesn't want to take this action right now. STOP",
                "user_rejected",
            ),
            (
                "The agent proposed a plan that was rejected by the user.",
                "user_rejected",
            ),
            (
                "Permission to use Bash with command x has been denied.",
                "permission_denied",
            ),
            (
                "Permission to use Write has been auto-denied in dontAsk mode.",
                "permission_denied",
            ),
            (
                "Claude requested permissions to write to /w/a, but you haven't granted it yet.",
                "permission_denied",
            ),
            (
                "User chose to stay in plan mode and continue planning",
                "user_rejected",
            ),
            ("This command requires approval", "permission_denied"),
            ("PreToolUse:Bash hook error: [guard.sh]: no", "hook_blocked"),
            ("Edit operation blocked by hook:\n- no", "hook_blocked"),
            (
                "<tool_use_error>Cancelled: parallel tool call Bash(x) errored</tool_use_error>",
                "cancelled",
            ),
            (
                "<tool_use_error>Sibling tool call errored</tool_use_error>",
                "cancelled",
            ),
            (
                "[Tool result missing due to internal error]",
                "unknown_outcome",
            ),
            ("Command timed out after 2m 0.0s", "timeout"),
            ("Exit code 143\nCommand timed out after 2m 0s", "timeout"),
            ("<tool_use_error>InputValidationError: x", "invalid_input"),
            (
                "cd to '/etc' was blocked. For security, only the working directory may be used",
                "security_blocked",
            ),
            (
                "<tool_use_error>Reading '/etc/shadow' was blocked. For security reasons",
                "security_blocked",
            ),
            ("cd to '/etc' was blocked", "invalid_input"),
            (
                "Exit code 1\nthe log: it was blocked. For security",
                "error",
            ),
            ("File has not been read yet. Read it first", "invalid_input"),
            ("Found 3 matches of the string to replace", "invalid_input"),
            ("Exit code 1\nno such file", "error"),
            ("anything else", "error"),
        ] {
            assert_eq!(outcome_of(content), expected, "{content}");
        }
    }

    #[test]
    fn a_quoted_message_does_not_count() {
        for content in [
            "the log says: The user doesn't want to proceed with this tool use.",
            "Permission to use this file is granted to everyone",
            "This command requires approval, the README says",
            "see [Request interrupted by user]",
        ] {
            let facts = ResultFacts {
                content,
                ..ResultFacts::default()
            };
            assert_eq!(outcome(&facts).name, "ok", "{content}");
        }
    }

    #[test]
    fn structured_fields_take_precedence() {
        for (kind, expected) in [
            ("user-rejected", "user_rejected"),
            ("permission-rule", "permission_denied"),
            ("automode-blocked", "permission_denied"),
            ("automode-unavailable", "permission_denied"),
            ("interrupted", "interrupted"),
            ("cancelled", "cancelled"),
        ] {
            let facts = ResultFacts {
                denial_kind: Some(kind),
                ..error("no")
            };
            assert_eq!(outcome(&facts).name, expected);
        }
        assert_eq!(
            outcome(&ResultFacts {
                is_interrupted: true,
                ..ResultFacts::default()
            })
            .name,
            "interrupted"
        );
        assert_eq!(
            outcome(&ResultFacts {
                is_timed_out: true,
                ..ResultFacts::default()
            })
            .name,
            "timeout"
        );
        assert_eq!(
            outcome(&ResultFacts {
                is_background: true,
                ..ResultFacts::default()
            })
            .name,
            "backgrounded"
        );
        assert_eq!(outcome(&ResultFacts::default()).name, "ok");
    }

    #[test]
    fn what_the_program_writes_into_a_reason_is_not_the_persons() {
        let denied = |reason: &str| {
            let content = format!(
                "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{reason}"
            );
            outcome(&error(&content)).denial_reason
        };
        let clarify = "The user wants to clarify these questions.\n    This means they may have more.\n\n    Questions asked:\n- \"Which tea?\"\n";
        assert_eq!(denied(&format!("{clarify}  (No answer provided)")), None);
        assert_eq!(
            denied(&format!(
                "{clarify}  Answer: green\nor white\n- \"Which cup?\"\n  (No answer provided)\n- \"How hot?\"\n  User notes: ask me"
            ))
            .as_deref(),
            Some("green\nor white\nask me")
        );
        assert_eq!(
            denied("use the other cup\n\nNote: The user's next message may contain a correction or preference. Pay close attention").as_deref(),
            Some("use the other cup")
        );
        assert_eq!(
            denied("I want to clarify these questions").as_deref(),
            Some("I want to clarify these questions")
        );
    }

    #[test]
    fn a_denial_reason_has_two_wordings_and_a_field() {
        let first = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the helper";
        assert_eq!(
            outcome(&error(first)).denial_reason.as_deref(),
            Some("use the helper")
        );
        let second = "The user doesn't want to proceed with this tool use. The user provided the following reason for the rejection:  not now";
        assert_eq!(
            outcome(&error(second)).denial_reason.as_deref(),
            Some("not now")
        );
        let facts = ResultFacts {
            feedback: Some("too risky"),
            denial_kind: Some("user-rejected"),
            ..error("no")
        };
        assert_eq!(outcome(&facts).denial_reason.as_deref(), Some("too risky"));
        let returned = ResultFacts {
            returned_text: Some("User rejected tool use"),
            ..error("no")
        };
        assert_eq!(
            outcome(&returned),
            Outcome {
                name: "user_rejected",
                denial_reason: None,
                exit_code: None
            }
        );
    }

    #[test]
    fn an_exit_code_starts_an_error() {
        assert_eq!(
            outcome(&error("Exit code 127\nnot found")).exit_code,
            Some(127)
        );
        assert_eq!(outcome(&error("it said Exit code 3")).exit_code, None);
        let fine = ResultFacts {
            content: "Exit code 1",
            ..ResultFacts::default()
        };
        assert_eq!(outcome(&fine).exit_code, None);
    }
}
