//! Records without a uuid -> events.

use super::extra::{Extra, parse_time};
use super::message::agent;
use super::unknown::Unknown;
use super::{Position, agent_link, content, entries, notification, usage};
use crate::discover::Place;
use crate::json::parse_object;
use crate::record::{self, Record, object};
use crate::rows::{Event, EventRows, FileBackup, Text, UnknownKind, Usage, UsageLine};
use crate::timestamp;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_128;

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
    let occurred_at = time.and_then(|raw| parse_time(raw, "", &mut Extra::default()));
    EventRows {
        usage: usage_without_message(record, json).map(|usage| Usage {
            line: UsageLine {
                session_id: session_id.clone(),
                sent_at: occurred_at.clone(),
                ..usage.line
            },
            agent: agent(record, session_id.as_ref(), place),
            ..usage
        }),
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
            occurred_at,
            ..Event::default()
        },
        file_backups,
    }
}

/// The usage of a response in a record that is no chain record: other programs write such lines, without a uuid. The content
/// names a line without one, so that its copies have the same name.
fn usage_without_message<'a>(record: &Record<'a>, json: &str) -> Option<Usage<'a>> {
    let message = record.message.as_ref()?;
    let line_name: Text<'_> = match record.uuid.as_ref().filter(|uuid| !uuid.is_empty()) {
        Some(uuid) => uuid.clone(),
        None => format!("line:{:032x}", xxh3_128(json.as_bytes())).into(),
    };
    let mut usage = usage::usage(message, &line_name)?;
    let line = &mut usage.line;
    line.request_id.clone_from(&record.request_id);
    line.is_sidechain = record.is_sidechain == Some(true);
    line.is_fork = record.forked_from.is_some();
    line.recorded_cost_usd = record.cost_usd.and_then(|raw| record::cost(raw.get()));
    line.visible_char_count = message
        .content
        .as_ref()
        .map(content::visible_chars_of_content);
    usage.set_scope(&line_name);
    Some(usage)
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
