//! What became of each prompt that was put into the queue while Claude worked.
//!
//! A rule on the set of a session's lines. The operations and the records of the session are walked in the order of their
//! time. An entry and the record that carries it have the same text, never only a part of it; each carries at most one.

use crate::database::{statements as sql, version_number};
use crate::error::Result;
use crate::normalize::{QueueOperation, queue_operation, queued_prompt, queued_text};
use rusqlite::Connection;
use std::collections::HashMap;

/// From this version on (2.1.97) a record carries what a running turn absorbed. Before, often only the queue has it.
const ABSORBED_IS_RECORDED: i64 = 2_001_097;

/// Derives `queue_entries` for the touched sessions.
pub fn settle_queues(connection: &Connection) -> Result<()> {
    let mut sessions = connection.prepare(sql::FIND_QUEUED_SESSIONS)?;
    let sessions = sessions.query_map([], |row| row.get(0))?;
    for session_id in sessions.collect::<rusqlite::Result<Vec<Option<String>>>>()? {
        settle_queue(connection, session_id.as_deref())?;
    }
    Ok(())
}

fn settle_queue(connection: &Connection, session_id: Option<&str>) -> Result<()> {
    let operations = operations(connection, session_id)?;
    let mut steps = records(connection, session_id)?;
    let (copies, mut own): (Vec<_>, Vec<_>) =
        operations.into_iter().partition(|(_, is_copy)| *is_copy);
    for (operation, _) in &mut own {
        if operation.is_unexplained_removal() {
            let version: Option<String> = connection
                .prepare_cached(sql::FIND_VERSION_BEFORE)?
                .query_map((session_id, &operation.occurred_at), |row| row.get(0))?
                .next()
                .transpose()?;
            let version = version.as_deref().and_then(version_number);
            operation.is_of_old_version =
                version.is_some_and(|version| version < ABSORBED_IS_RECORDED);
        }
    }
    steps.extend(
        own.into_iter()
            .map(|(operation, _)| Step::Operation(operation)),
    );
    // A stable sort: operations of the same moment stay in the order of their lines, before the records.
    steps.sort_by(|a, b| a.order().cmp(&b.order()));
    let copies = copies.into_iter().filter_map(|(operation, _)| {
        let entry = Entry::new(&operation)?;
        Some(Entry {
            fate: Fate::Copy,
            ..entry
        })
    });
    let mut insert = connection.prepare_cached(sql::INSERT_QUEUE_ENTRY)?;
    for entry in walk(&steps).into_iter().chain(copies) {
        let (fate, message_id) = entry.fate.columns();
        let prompt = queued_prompt(&entry.text);
        // What a message carries, and what a program wrote, is not repeated.
        let text = (message_id.is_none() && prompt.kind != "machine" && fate != "copy")
            .then(|| queued_text(&entry.text));
        insert.execute((
            entry.event_id,
            session_id,
            message_id,
            fate,
            prompt.kind,
            prompt.machine.as_deref(),
            &prompt.command_name,
            &prompt.command_arguments,
            &entry.queued_at,
            text,
        ))?;
    }
    Ok(())
}

/// An operation on the queue, or a record that may carry what was in it.
enum Step {
    Operation(Operation),
    Record(Record),
}

#[derive(Default)]
struct Operation {
    event_id: i64,
    occurred_at: Option<String>,
    fields: QueueOperation,
    /// Whether a version wrote it in which often only the queue has what was absorbed.
    is_of_old_version: bool,
}

#[derive(Default)]
struct Record {
    message_id: i64,
    sent_at: Option<String>,
    text: String,
    /// Whether it is part of a running turn: an attachment, or a text beside a tool result.
    is_absorbed: bool,
    is_typed: bool,
    /// Whether it says that it comes from the queue.
    is_queued: bool,
}

impl Step {
    fn order(&self) -> (bool, Option<&str>, bool) {
        let (time, is_record) = match self {
            Step::Operation(operation) => (operation.occurred_at.as_deref(), false),
            Step::Record(record) => (record.sent_at.as_deref(), true),
        };
        (time.is_none(), time, is_record)
    }
}

impl Operation {
    fn is_unexplained_removal(&self) -> bool {
        self.fields.operation == "remove" && self.fields.reason.is_none()
    }
}

/// The operations of a session, and of each whether it is a copy: the same record in another file or version of a file.
fn operations(connection: &Connection, session_id: Option<&str>) -> Result<Vec<(Operation, bool)>> {
    let mut statement = connection.prepare_cached(sql::FIND_QUEUE_OPERATIONS)?;
    let mut rows = statement.query([session_id])?;
    let mut found = Vec::new();
    // How often a record occurs in the file with most copies of it, and in the file being read.
    let mut counts: HashMap<String, (i64, i64, i64)> = HashMap::new();
    while let Some(row) = rows.next()? {
        let file_id: i64 = row.get(1)?;
        let json: String = row.get(2)?;
        let operation = Operation {
            event_id: row.get(0)?,
            occurred_at: row.get(3)?,
            fields: queue_operation(&json),
            ..Operation::default()
        };
        let (most, file, count) = counts.entry(json).or_default();
        if *file != file_id {
            (*file, *count) = (file_id, 0);
        }
        *count += 1;
        let is_copy = *count <= *most;
        *most = (*most).max(*count);
        found.push((operation, is_copy));
    }
    Ok(found)
}

fn records(connection: &Connection, session_id: Option<&str>) -> Result<Vec<Step>> {
    let mut statement = connection.prepare_cached(sql::FIND_QUEUE_RECORDS)?;
    let records = statement.query_map([session_id], |row| {
        Ok(Step::Record(Record {
            message_id: row.get(0)?,
            sent_at: row.get(1)?,
            text: row
                .get::<_, Option<String>>(3)?
                .unwrap_or_default()
                .trim()
                .to_string(),
            is_absorbed: row.get(4)?,
            is_typed: row.get(5)?,
            is_queued: row.get::<_, Option<bool>>(6)? == Some(true),
        }))
    })?;
    Ok(records.collect::<rusqlite::Result<_>>()?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Still in the queue.
    Waiting,
    /// Taken out by `remove`; whether that alone says that Claude got it.
    Taken {
        is_absorbed: bool,
    },
    Delivered(i64),
    Absorbed(i64),
    Removed,
    Copy,
}

impl Fate {
    /// The columns `fate` and `message_id`.
    fn columns(self) -> (&'static str, Option<i64>) {
        match self {
            Fate::Waiting => ("undelivered", None),
            Fate::Taken { is_absorbed: true } => ("queue_only", None),
            Fate::Taken { is_absorbed: false } | Fate::Removed => ("removed", None),
            Fate::Delivered(message_id) => ("delivered", Some(message_id)),
            Fate::Absorbed(message_id) => ("absorbed", Some(message_id)),
            Fate::Copy => ("copy", None),
        }
    }
}

struct Entry {
    event_id: i64,
    queued_at: Option<String>,
    text: String,
    is_machine: bool,
    fate: Fate,
}

impl Entry {
    /// What an operation puts into the queue.
    fn new(operation: &Operation) -> Option<Entry> {
        if operation.fields.operation != "enqueue" {
            return None;
        }
        let text = operation.fields.text.clone().unwrap_or_default();
        Some(Entry {
            event_id: operation.event_id,
            queued_at: operation.occurred_at.clone(),
            is_machine: queued_prompt(&text).kind == "machine",
            text,
            fate: Fate::Waiting,
        })
    }
}

/// What took the last entries out of the queue, so that the next record may carry one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Nothing,
    Dequeued,
    Removed,
}

/// The entries with what became of them.
fn walk(steps: &[Step]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut expected = Expected::Nothing;
    for step in steps {
        match step {
            Step::Operation(operation) => match operation.fields.operation.as_str() {
                "enqueue" => entries.extend(Entry::new(operation)),
                "dequeue" => expected = Expected::Dequeued,
                "remove" => {
                    take_out(&mut entries, operation);
                    expected = Expected::Removed;
                }
                "popAll" | "popOne" => take_back(&mut entries, operation),
                _ => {}
            },
            Step::Record(record) => {
                let is_expected =
                    record.is_absorbed || record.is_queued || expected != Expected::Nothing;
                let is_taken_first = record.is_absorbed || expected == Expected::Removed;
                let carried = is_expected
                    .then(|| carried(&entries, &record.text, is_taken_first))
                    .flatten();
                match carried {
                    Some(at) if record.is_absorbed => {
                        entries[at].fate = Fate::Absorbed(record.message_id);
                    }
                    Some(at) => entries[at].fate = Fate::Delivered(record.message_id),
                    // A prompt that was typed now: what follows it is not what was taken out before.
                    None if record.is_typed && !record.is_absorbed => expected = Expected::Nothing,
                    None => {}
                }
            }
        }
    }
    entries
}

/// The entry that a record carries: the last one with its text.
fn carried(entries: &[Entry], text: &str, is_taken_first: bool) -> Option<usize> {
    let last = |is_taken: bool| {
        entries.iter().rposition(|entry| {
            entry.text == text
                && match entry.fate {
                    Fate::Waiting => !is_taken,
                    Fate::Taken { .. } => is_taken,
                    _ => false,
                }
        })
    };
    last(is_taken_first).or_else(|| last(!is_taken_first))
}

/// `remove`: what has its text, else what the person typed first. Notifications come after prompts.
fn take_out(entries: &mut [Entry], operation: &Operation) {
    let is_absorbed = match operation.fields.reason.as_deref() {
        Some(reason) => reason == "absorbed_mid_turn",
        None => operation.is_of_old_version,
    };
    let waiting = |entry: &Entry| entry.fate == Fate::Waiting;
    let taken = match operation.fields.text.as_deref() {
        Some(text) => entries
            .iter()
            .position(|entry| waiting(entry) && entry.text == text),
        None => entries
            .iter()
            .position(|entry| waiting(entry) && !entry.is_machine)
            .or_else(|| entries.iter().position(waiting)),
    };
    if let Some(at) = taken {
        entries[at].fate = Fate::Taken { is_absorbed };
    }
}

/// `popAll` and `popOne`: the person takes prompts back into the input box. Newer versions write one operation per prompt.
fn take_back(entries: &mut [Entry], operation: &Operation) {
    let text = operation.fields.text.as_deref();
    let is_all = operation.fields.operation == "popAll" && text.is_none();
    for entry in entries.iter_mut().rev() {
        let is_meant = match text {
            Some(text) => entry.text == text,
            None => !entry.is_machine,
        };
        if is_meant && entry.fate == Fate::Waiting {
            entry.fate = Fate::Removed;
            if !is_all {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(name: &str, text: Option<&str>) -> Step {
        Step::Operation(Operation {
            fields: QueueOperation {
                operation: name.to_string(),
                text: text.map(str::to_string),
                reason: None,
            },
            is_of_old_version: true,
            ..Operation::default()
        })
    }

    fn put(text: &str) -> Step {
        operation("enqueue", Some(text))
    }

    fn record(message_id: i64, text: &str) -> Step {
        Step::Record(Record {
            message_id,
            text: text.to_string(),
            is_typed: !text.starts_with('<'),
            ..Record::default()
        })
    }

    fn attachment(message_id: i64, text: &str) -> Step {
        Step::Record(Record {
            message_id,
            text: text.to_string(),
            is_absorbed: true,
            is_typed: true,
            ..Record::default()
        })
    }

    fn fates(steps: &[Step]) -> Vec<(&'static str, Option<i64>)> {
        walk(steps)
            .iter()
            .map(|entry| entry.fate.columns())
            .collect()
    }

    #[test]
    fn a_text_that_contains_the_prompt_does_not_carry_it() {
        let steps = [
            put("ok"),
            operation("remove", None),
            record(1, "look at the docs: ok"),
            attachment(2, "ok, and the docs"),
        ];
        assert_eq!(fates(&steps), [("queue_only", None)]);
    }

    #[test]
    fn of_two_entries_with_one_text_the_record_carries_one() {
        let steps = [
            put("continue"),
            operation("remove", None),
            record(1, "something else"),
            put("continue"),
            operation("dequeue", None),
            record(2, "continue"),
        ];
        assert_eq!(
            fates(&steps),
            [("queue_only", None), ("delivered", Some(2))]
        );
    }

    #[test]
    fn what_is_typed_again_later_is_another_prompt() {
        let steps = [
            put("continue"),
            operation("remove", None),
            record(1, "something else"),
            record(2, "continue"),
        ];
        assert_eq!(fates(&steps), [("queue_only", None)]);
        let steps = [put("continue"), record(2, "continue")];
        assert_eq!(fates(&steps), [("undelivered", None)]);
    }

    #[test]
    fn several_entries_are_delivered_one_after_the_other() {
        let steps = [
            put("one"),
            put("two"),
            operation("dequeue", None),
            operation("dequeue", None),
            record(1, "<local-command-caveat>"),
            record(2, "one"),
            record(3, "two"),
        ];
        assert_eq!(
            fates(&steps),
            [("delivered", Some(2)), ("delivered", Some(3))]
        );
    }

    #[test]
    fn a_prompt_waits_while_notifications_are_delivered() {
        let note = "<task-notification><task-id>a</task-id></task-notification>";
        let steps = [
            put("are they done?"),
            put(note),
            operation("dequeue", None),
            record(1, note),
            record(2, "why?"),
            operation("dequeue", None),
            record(3, "are they done?"),
        ];
        assert_eq!(
            fates(&steps),
            [("delivered", Some(3)), ("delivered", Some(1))]
        );
    }

    #[test]
    fn what_the_person_takes_back_is_not_sent() {
        let steps = [
            put("one"),
            put("two"),
            operation("popAll", Some("two")),
            operation("dequeue", None),
            record(1, "one"),
        ];
        assert_eq!(fates(&steps), [("delivered", Some(1)), ("removed", None)]);
        let note = "<task-notification><task-id>a</task-id></task-notification>";
        let steps = [put("one"), put("two"), put(note), operation("popAll", None)];
        assert_eq!(
            fates(&steps),
            [("removed", None), ("removed", None), ("undelivered", None)]
        );
    }

    #[test]
    fn an_attachment_carries_what_a_running_turn_absorbed() {
        let steps = [
            put("ok"),
            attachment(1, "ok"),
            operation("remove", Some("ok")),
            put("ok"),
            operation("remove", Some("ok")),
            attachment(2, "ok"),
        ];
        assert_eq!(
            fates(&steps),
            [("absorbed", Some(1)), ("absorbed", Some(2))]
        );
    }
}
