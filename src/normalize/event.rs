//! Records without a uuid -> events; lines of `history.jsonl` -> prompts.

use super::extra::Extra;
use super::message::moment;
use super::unknown::Unknown;
use super::{Position, agent_link, document, entries, notification};
use crate::discover::Place;
use crate::record::{HistoryLine, Record, kinds, object, parse_object};
use crate::rows::{Event, EventRows, FileBackup, HistoryPrompt, HistoryRows, UnknownKind};
use crate::timestamp;
use std::borrow::Cow;

/// The event of a record; the record itself is its payload.
pub fn event<'a>(
    record: &Record<'a>,
    json: &'a str,
    position: Position,
    place: &'a Place,
    unknown_kinds: &mut Vec<UnknownKind>,
) -> EventRows<'a> {
    let mut unknown = Unknown {
        found: unknown_kinds,
        version: record.version.clone(),
        position,
    };
    unknown.record(record.kind.as_deref(), &record.rest);

    let about: About = parse_object(json).unwrap_or_default();
    let place_session = || place.session_id.as_deref().map(Cow::Borrowed);
    let session_id = record.session_id.clone().or_else(place_session);
    let message_uuid = about.leaf_uuid.or(about.message_id);
    let nested_time = about
        .snapshot
        .as_ref()
        .and_then(|snapshot| snapshot.timestamp);
    let time = record.timestamp.or(about.ts).or(nested_time);
    let file_backups = backups(about.snapshot, about.tracking_path, about.backup)
        .into_iter()
        .map(|backup| FileBackup {
            session_id: session_id.clone(),
            message_uuid: message_uuid.clone(),
            ..backup
        })
        .collect();
    let queued = match (record.kind.as_deref(), record.content.as_deref()) {
        (Some("queue-operation"), Some(content)) => notification::parse(content),
        _ => Vec::new(),
    };
    EventRows {
        links: queued
            .iter()
            .filter_map(agent_link::from_notification)
            .collect(),
        notifications: queued,
        event: Event {
            line_number: position.line_number,
            byte_offset: position.byte_offset,
            kind: record.kind.clone(),
            session_id,
            message_uuid,
            related_session_id: about.continued_in.or(about.parent_session),
            payload_json: json.into(),
            occurred_at: time.and_then(|raw| moment(raw, "", &mut Extra::default())),
            ..Event::default()
        },
        file_backups,
    }
}

object! {
    /// What state records are about.
    pub struct About {
        "leafUuid" => leaf_uuid: text,
        "messageId" => message_id: text,
        "continuedInSessionId" => continued_in: id,
        "parentSessionId" => parent_session: id,
        "ts" => ts: raw,
        /// Of `file-history-snapshot`.
        "snapshot" => snapshot: Snapshot,
        /// Of `file-history-delta`.
        "trackingPath" => tracking_path: text,
        "backup" => backup: Backup,
    }
}

object! {
    /// The files that Claude Code keeps copies of at one moment.
    pub struct Snapshot {
        "timestamp" => timestamp: raw,
        "trackedFileBackups" => files: raw,
    }
}

object! {
    /// One copy.
    pub struct Backup {
        /// Null when the file did not exist.
        "backupFileName" => name: text,
        "version" => version: count,
        "backupTime" => time: text,
    }
}

fn backups<'a>(
    snapshot: Option<Snapshot<'a>>,
    path: Option<Cow<'a, str>>,
    backup: Option<Backup<'a>>,
) -> Vec<FileBackup<'a>> {
    let mut rows = Vec::new();
    if let Some(files) = snapshot.and_then(|snapshot| snapshot.files) {
        for (path, json) in entries(files.get()) {
            let backup: Backup = parse_object(json).unwrap_or_default();
            rows.push(file_backup(path, backup));
        }
    }
    if let (Some(path), Some(backup)) = (path, backup) {
        rows.push(file_backup(path, backup));
    }
    rows.sort_by(|a, b| a.file_path.cmp(&b.file_path));
    rows.dedup_by(|a, b| a.file_path == b.file_path);
    rows
}

fn file_backup<'a>(file_path: Cow<'a, str>, backup: Backup<'a>) -> FileBackup<'a> {
    FileBackup {
        file_path,
        backup_name: backup.name,
        version: backup.version,
        backed_up_at: backup.time.and_then(timestamp::normalize),
        ..FileBackup::default()
    }
}

/// The prompt of a line of `history.jsonl`.
pub fn history_prompt<'a>(
    json: &'a str,
    position: Position,
    unknown_kinds: &mut Vec<UnknownKind>,
) -> HistoryRows<'a> {
    let line: HistoryLine = parse_object(json).unwrap_or_default();
    let mut unknown = Unknown {
        found: unknown_kinds,
        version: None,
        position,
    };
    let mut extra = Extra::default();
    let mut pasted_contents = Vec::new();
    for (key, value) in &line.rest {
        if !kinds::is_known_history_key(key) {
            unknown.note("key", format!("history.{key}"));
        }
        let pasted = value.raw().filter(|_| key == "pastedContents");
        match pasted.and_then(|raw| document::pasted_contents(raw.get())) {
            Some(pasted) => pasted_contents = pasted,
            _ => extra.push(key, value.get()),
        }
    }
    let prompted_at = line.timestamp.and_then(timestamp::from_milliseconds);
    if let (None, Some(number)) = (&prompted_at, line.timestamp) {
        extra.push("timestamp", &number.to_string());
    }
    HistoryRows {
        prompt: HistoryPrompt {
            line_number: position.line_number,
            byte_offset: position.byte_offset,
            session_id: line.session_id,
            project_path: line.project,
            display: line.display,
            extra_json: extra.finish().map(Into::into),
            prompted_at: prompted_at.map(Into::into),
            ..HistoryPrompt::default()
        },
        pasted_contents,
    }
}
