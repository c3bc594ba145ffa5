//! Notices about tasks in the background: agents, commands, monitors, workflows.

use super::beginning;
use crate::record::{object, parse_object};
use crate::rows::{TaskNotification, Text};

object! {
    /// The oldest form of a notice.
    pub struct OldNotice {
        "task_id" => task_id: text,
        "tool_use_id" => tool_use_id: text,
        "status" => status: text,
        "summary" => summary: long_text,
        "result" => result: long_text,
    }
}

/// The notices in a text that is one, or several in a row.
pub fn parse(text: &str) -> Vec<TaskNotification<'static>> {
    let text = text.trim();
    if text.starts_with('{') {
        return old_notice(text).into_iter().collect();
    }
    if !text.starts_with("<task-notification>") {
        return Vec::new();
    }
    let notices = text.split("<task-notification>").skip(1);
    let notices = notices
        .enumerate()
        .map(|(position, notice)| TaskNotification {
            position: position as i64,
            task_id: inside(notice, "task-id"),
            tool_use_id: inside(notice, "tool-use-id"),
            status: inside(notice, "status"),
            summary: inside(notice, "summary"),
            result: inside(notice, "result"),
            ..TaskNotification::default()
        });
    notices.collect()
}

fn old_notice(json: &str) -> Option<TaskNotification<'static>> {
    let notice: OldNotice = parse_object(json).ok()?;
    let notice = TaskNotification {
        task_id: Some(notice.task_id?),
        tool_use_id: Some(notice.tool_use_id?),
        status: notice.status,
        summary: notice.summary.map(beginning::keep),
        result: notice.result.map(beginning::keep),
        ..TaskNotification::default()
    };
    Some(notice.into_owned())
}

/// What stands between the first tag and the last end of it: a result may speak of tags itself.
fn inside(text: &str, tag: &str) -> Option<Text<'static>> {
    let (_, behind) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = behind.rsplit_once(&format!("</{tag}>"))?;
    let inside = inside.trim();
    (!inside.is_empty()).then(|| beginning::of(inside).to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_names_its_task_and_its_call() {
        let text = "<task-notification>\n<task-id>a1b2c3d</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<status>completed</status>\n<summary>Agent done</summary>\n<result>All good</result>\n</task-notification>";
        let notices = parse(text);
        assert_eq!(notices.len(), 1);
        assert_eq!(notices[0].task_id.as_deref(), Some("a1b2c3d"));
        assert_eq!(notices[0].tool_use_id.as_deref(), Some("toolu_1"));
        assert_eq!(notices[0].status.as_deref(), Some("completed"));
        assert_eq!(notices[0].result.as_deref(), Some("All good"));
        assert_eq!(parse(&format!("{text}\n{text}")).len(), 2);
        assert_eq!(parse("see <task-notification>").len(), 0);
    }

    #[test]
    fn the_oldest_notice_is_json() {
        let notices = parse(r#"{"task_id":"b1","tool_use_id":"toolu_2","status":"failed"}"#);
        assert_eq!(notices[0].status.as_deref(), Some("failed"));
        assert_eq!(parse(r#"{"a":1}"#).len(), 0);
    }
}
