//! Notifications about background tasks: sub-agents, commands, monitors, workflows.

use super::truncate::{truncate, truncate_str};
use crate::json::parse_object;
use crate::record::object;
use crate::rows::{TaskNotification, Text};

object! {
    /// The oldest format of a notification.
    pub struct JsonNotification {
        "task_id" => background_task_id: text,
        "tool_use_id" => tool_use_id: text,
        "status" => status: text,
        "summary" => summary: long_text,
        "result" => result: long_text,
    }
}

/// Parses a string of one or more notifications. Any other string has none.
pub fn parse(text: &str) -> Vec<TaskNotification<'static>> {
    let text = text.trim();
    if text.starts_with('{') {
        return parse_json(text).into_iter().collect();
    }
    if !text.starts_with("<task-notification>") {
        return Vec::new();
    }
    let notifications = text.split("<task-notification>").skip(1);
    let notifications =
        notifications
            .enumerate()
            .map(|(position, notification)| TaskNotification {
                position: position as i64,
                background_task_id: element(notification, "task-id"),
                tool_use_id: element(notification, "tool-use-id"),
                status: element(notification, "status"),
                summary: element(notification, "summary"),
                result: element(notification, "result"),
                ..TaskNotification::default()
            });
    notifications.collect()
}

fn parse_json(json: &str) -> Option<TaskNotification<'static>> {
    let notification: JsonNotification = parse_object(json).ok()?;
    let notification = TaskNotification {
        background_task_id: Some(notification.background_task_id?),
        tool_use_id: Some(notification.tool_use_id?),
        status: notification.status,
        summary: notification.summary.map(truncate),
        result: notification.result.map(truncate),
        ..TaskNotification::default()
    };
    Some(notification.into_owned())
}

/// The content of an element, up to the last closing tag: a result may quote tags.
fn element(text: &str, tag: &str) -> Option<Text<'static>> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (content, _) = rest.rsplit_once(&format!("</{tag}>"))?;
    let content = content.trim();
    (!content.is_empty()).then(|| truncate_str(content).to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_names_its_task_and_its_call() {
        let text = "<task-notification>\n<task-id>a1b2c3d</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<status>completed</status>\n<summary>Agent done</summary>\n<result>All good</result>\n</task-notification>";
        let notifications = parse(text);
        assert_eq!(notifications.len(), 1);
        assert_eq!(
            notifications[0].background_task_id.as_deref(),
            Some("a1b2c3d")
        );
        assert_eq!(notifications[0].tool_use_id.as_deref(), Some("toolu_1"));
        assert_eq!(notifications[0].status.as_deref(), Some("completed"));
        assert_eq!(notifications[0].result.as_deref(), Some("All good"));
        assert_eq!(parse(&format!("{text}\n{text}")).len(), 2);
        assert_eq!(parse("see <task-notification>").len(), 0);
    }

    #[test]
    fn the_oldest_notification_is_json() {
        let notifications = parse(r#"{"task_id":"b1","tool_use_id":"toolu_2","status":"failed"}"#);
        assert_eq!(notifications[0].status.as_deref(), Some("failed"));
        assert_eq!(parse(r#"{"a":1}"#).len(), 0);
    }
}
