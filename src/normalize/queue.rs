//! Queue operations: what was typed or sent while Claude worked, and what took it out of the queue.

use super::prompt::{Prompt, classify_typed};
use super::truncate::truncate_str;
use crate::json::{Lenient, parse_object};
use crate::record::{Content, ContentOf, object};

object! {
    /// A `queue-operation` record.
    pub struct Fields {
        "operation" => operation: text,
        /// What is put into the queue; what is taken out only in some versions.
        "content" => content: Content,
        /// Of `remove`, since 2.1.246: `absorbed_mid_turn`.
        "reason" => reason: text,
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueOperation {
    /// enqueue, dequeue, remove, popAll or popOne.
    pub operation: String,
    /// Without white space around it.
    pub text: Option<String>,
    pub reason: Option<String>,
}

pub fn queue_operation(json: &str) -> QueueOperation {
    let fields: Fields = parse_object(json).unwrap_or_default();
    let text = fields.content.map(|content| match content {
        ContentOf::Text(text) => text.trim().to_string(),
        ContentOf::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Lenient::Is(block) => block.text.as_deref(),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n").trim().to_string()
        }
    });
    QueueOperation {
        operation: fields.operation.unwrap_or_default().into_owned(),
        text,
        reason: fields.reason.map(Into::into),
    }
}

/// Who wrote a queued text.
pub fn queued_prompt(text: &str) -> Prompt {
    classify_typed(text)
}

/// The part of a queued text that a column holds.
pub fn queued_text(text: &str) -> &str {
    truncate_str(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_of_an_operation_is_a_string_or_blocks() {
        let operation = queue_operation(
            r#"{"operation":"remove","content":"\n fix it ","reason":"absorbed_mid_turn"}"#,
        );
        assert_eq!(operation.text.as_deref(), Some("fix it"));
        assert_eq!(operation.reason.as_deref(), Some("absorbed_mid_turn"));
        let blocks = queue_operation(
            r#"{"operation":"enqueue","content":[{"type":"text","text":"look"},{"type":"image","source":{}},{"type":"text","text":"here"}]}"#,
        );
        assert_eq!(blocks.text.as_deref(), Some("look\nhere"));
        assert_eq!(queue_operation(r#"{"operation":"dequeue"}"#).text, None);
    }

    #[test]
    fn a_queued_text_is_the_persons_unless_a_program_wrote_it() {
        for (text, kind, command) in [
            ("fix the test", "human", None),
            ("/model opus", "slash_command", Some("/model")),
            ("/plugin:do it", "slash_command", Some("/plugin:do")),
            ("/home/me/a.txt is missing", "human", None),
            ("/ is the root", "human", None),
            ("!ls", "bash_command", None),
            ("{\"task_id\":\"b1\"}", "machine", None),
            ("<task-notification><task-id>a</task-id>", "machine", None),
            ("Stop hook feedback:\nno", "machine", None),
            ("", "machine", None),
        ] {
            let prompt = queued_prompt(text);
            assert_eq!(
                (prompt.kind, prompt.command_name.as_deref()),
                (kind, command),
                "{text}"
            );
        }
        let prompt = queued_prompt("/model opus 5");
        assert_eq!(prompt.command_arguments.as_deref(), Some("opus 5"));
    }
}
