//! Records without a uuid, and lines of `history.jsonl`.

use super::{AgentLink, Message, TaskNotification, Text, Usage};

tables! {
    /// A record without a uuid.
    "events" => Event<'a> {
        "event_id" => event_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "type" => kind: Option<Text<'a>>,
        "session_id" => session_id: Option<Text<'a>>,
        "message_uuid" => message_uuid: Option<Text<'a>>,
        "related_session_id" => related_session_id: Option<Text<'a>>,
        "payload_json" => payload_json: Text<'a>,
        "occurred_at" => occurred_at: Option<Text<'a>>,
    }

    /// A file in a `file-history-snapshot`.
    "file_backups" => FileBackup<'a> {
        "event_id" => event_id: i64,
        "session_id" => session_id: Option<Text<'a>>,
        "message_uuid" => message_uuid: Option<Text<'a>>,
        "file_path" => file_path: Text<'a>,
        "backup_name" => backup_name: Option<Text<'a>>,
        "version" => version: Option<i64>,
        "backed_up_at" => backed_up_at: Option<Text<'a>>,
    }

    /// A line of `history.jsonl`.
    "history_prompts" => HistoryPrompt<'a> {
        "history_prompt_id" => history_prompt_id: i64,
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "session_id" => session_id: Option<Text<'a>>,
        "project_path" => project_path: Option<Text<'a>>,
        "prompt_kind" => prompt_kind: Option<&'static str>,
        "command_name" => command_name: Option<Text<'a>>,
        "command_arguments" => command_arguments: Option<Text<'a>>,
        "display" => display: Option<Text<'a>>,
        "extra_json" => extra_json: Option<Text<'a>>,
        "prompted_at" => prompted_at: Option<Text<'a>>,
    }

    /// A paste in a line of `history.jsonl`.
    "pasted_contents" => PastedContent<'a> {
        "history_prompt_id" => history_prompt_id: i64,
        "paste_number" => paste_number: i64,
        "kind" => kind: Option<Text<'a>>,
        "cache_name" => cache_name: Option<Text<'a>>,
        "media_type" => media_type: Option<Text<'a>>,
        "content" => content: Option<Text<'a>>,
        "extra_json" => extra_json: Option<Text<'a>>,
    }
}

/// An event with the rows that belong to it.
#[derive(Debug, Default)]
pub struct EventRows<'a> {
    pub event: Event<'a>,
    pub usage: Option<Usage<'a>>,
    pub file_backups: Vec<FileBackup<'a>>,
    pub links: Vec<AgentLink>,
    /// The notifications that the event queues.
    pub notifications: Vec<TaskNotification<'a>>,
}

/// A line of `history.jsonl` with its pastes.
#[derive(Debug, Default)]
pub struct HistoryRows<'a> {
    pub prompt: HistoryPrompt<'a>,
    pub pasted_contents: Vec<PastedContent<'a>>,
}

into_owned! {
    EventRows { event, usage, file_backups, links, notifications }
    HistoryRows { prompt, pasted_contents }
}

impl<'a> TaskNotification<'a> {
    /// Sets the message that delivers the notification.
    pub fn set_message(&mut self, message: &Message<'a>) {
        self.message_id = Some(message.message_id);
        self.file_id = message.file_id;
        self.byte_offset = message.byte_offset;
        self.session_id.clone_from(&message.session_id);
        self.notified_at.clone_from(&message.sent_at);
    }

    /// Sets the event that queues the notification.
    pub fn set_event(&mut self, event: &Event<'a>) {
        self.event_id = Some(event.event_id);
        self.file_id = event.file_id;
        self.byte_offset = event.byte_offset;
        self.session_id.clone_from(&event.session_id);
        self.notified_at.clone_from(&event.occurred_at);
    }
}
