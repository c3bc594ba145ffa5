//! Records without a uuid -> events.

use super::extra::{Extra, parse_time};
use super::unknown::Unknown;
use super::{Position, agent_link, entries, notification};
use crate::discover::Place;
use crate::json::parse_object;
use crate::record::{Record, object};
use crate::rows::{Event, EventRows, FileBackup, UnknownKind};
use crate::timestamp;
use std::borrow::Cow;

/// The event of a record. Its payload is the whole record.
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

    let fields: StateFields = parse_object(json).unwrap_or_default();
    let place_session = || place.session_id.as_deref().map(Cow::Borrowed);
    let session_id = record.session_id.clone().or_else(place_session);
    let message_uuid = fields.leaf_uuid.or(fields.message_id);
    let nested_time = fields
        .snapshot
        .as_ref()
        .and_then(|snapshot| snapshot.timestamp);
    let time = record.timestamp.or(fields.ts).or(nested_time);
    let file_backups = backups(fields.snapshot, fields.tracking_path, fields.backup)
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
            related_session_id: fields.continued_in.or(fields.parent_session),
            payload_json: json.into(),
            occurred_at: time.and_then(|raw| parse_time(raw, "", &mut Extra::default())),
            ..Event::default()
        },
        file_backups,
    }
}

object! {
    /// The fields of state records that have a column.
    pub struct StateFields {
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
    /// The files that Claude Code backed up at one moment.
    pub struct Snapshot {
        "timestamp" => timestamp: raw,
        "trackedFileBackups" => files: raw,
    }
}

object! {
    /// A backup of one file.
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
