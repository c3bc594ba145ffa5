//! Decides which result settles a tool call, how long the call took, and which file it changed.
//!
//! The earliest result settles a call; further results are copies. Most calls have one result a few lines later: the call is
//! buffered until then, and both are inserted settled. All other calls (with a result before the call, in another file or in a
//! later sync, or with several results) are settled from the rows at the commit, by the same rules.

use super::Loader;
use crate::database::statements as sql;
use crate::error::Result;
use crate::record::GREATEST_COUNT;
use crate::rows::{BlockRows, FileChange, Insert as _, Message, Text, ToolUse};
use crate::store::{Id, Statements, Store};
use crate::timestamp;
use foldhash::HashMap;
use rusqlite::OptionalExtension;

/// Buffered calls without a result, by id.
#[derive(Default)]
pub struct WaitingCalls<'a> {
    calls: HashMap<Text<'a>, (Box<ToolUse<'a>>, Option<Text<'a>>)>,
    /// The size of their inputs.
    bytes: usize,
}

/// Limit of the buffered inputs.
const WAITING_BYTES: usize = 4 << 20;

impl<'a> WaitingCalls<'a> {
    pub fn contains(&self, tool_use_id: &str) -> bool {
        self.calls.contains_key(tool_use_id)
    }

    fn add(&mut self, call: Box<ToolUse<'a>>, sent_at: Option<Text<'a>>) {
        self.bytes += input_bytes(&call);
        self.calls.insert(call.tool_use_id.clone(), (call, sent_at));
    }

    fn take(&mut self, tool_use_id: &str) -> Option<(Box<ToolUse<'a>>, Option<Text<'a>>)> {
        let (call, sent_at) = self.calls.remove(tool_use_id)?;
        self.bytes -= input_bytes(&call);
        Some((call, sent_at))
    }

    pub fn into_owned(self) -> WaitingCalls<'static> {
        let own = |(call, sent_at): (Box<ToolUse<'a>>, Option<Text<'a>>)| {
            let call = Box::new(call.into_owned());
            let sent_at = sent_at.map(|time| Text::Owned(time.into_owned()));
            (call.tool_use_id.clone(), (call, sent_at))
        };
        WaitingCalls {
            calls: self.calls.into_values().map(own).collect(),
            bytes: self.bytes,
        }
    }
}

fn input_bytes(call: &ToolUse<'_>) -> usize {
    call.input_json.as_ref().map_or(0, |json| json.len())
}

impl<S: Store> Loader<S> {
    /// Buffers a new call until its result arrives.
    pub(super) fn add_call<'a>(
        &mut self,
        call: Box<ToolUse<'a>>,
        message: &Message<'a>,
        calls: &mut WaitingCalls<'a>,
    ) -> Result<()> {
        self.store
            .remember(Id::Call(&call.tool_use_id), call.block_id);
        calls.add(call, message.sent_at.clone());
        match calls.bytes > WAITING_BYTES {
            true => self.insert_calls(calls),
            false => Ok(()),
        }
    }

    /// Inserts the result of a block. If its call is buffered, inserts the call too, settled.
    pub(super) fn add_result<'a>(
        &mut self,
        rows: &mut BlockRows<'a>,
        message: &Message<'a>,
        calls: &mut WaitingCalls<'a>,
    ) -> Result<()> {
        let Some(result) = &mut rows.tool_result else {
            return Ok(());
        };
        self.keys.result += 1;
        result.tool_result_id = self.keys.result;
        if let Some(tool_use_id) = result.source_tool_use_id.clone() {
            match calls.take(&tool_use_id) {
                Some((mut call, called_at)) => {
                    call.tool_result_id = Some(self.keys.result);
                    result.elapsed_ms =
                        elapsed_ms(called_at.as_deref(), message.sent_at.as_deref());
                    let outcome = Outcome {
                        name: result.outcome,
                        change_kind: result.change_kind,
                        changed_path: result.changed_path.as_deref(),
                        lines_added: result.lines_added,
                        lines_removed: result.lines_removed,
                        line_count_source: result.line_count_source,
                        is_user_modified: result.is_user_modified,
                    };
                    if let Some(change) = file_change(&Request::of(&call), &outcome) {
                        self.store.insert(&change)?;
                    }
                    self.store.insert_last(&mut *call)?;
                    result.tool_use_id = Some(tool_use_id);
                }
                None => self.deferred.touch_call(&tool_use_id),
            }
        }
        if let Some(request) = &mut rows.web_request {
            request.tool_result_id = self.keys.result;
            self.store.insert(&**request)?;
            // The number of web searches counts for the response of the call.
            if let Some(tool_use_id) = &result.source_tool_use_id {
                self.deferred.touch_call(tool_use_id);
            }
        }
        for operation in &mut rows.git_operations {
            operation.tool_result_id = self.keys.result;
            self.store.insert(operation)?;
        }
        self.store.insert_last(&mut **result)
    }

    /// Inserts the buffered calls. Later results settle them at the commit.
    pub(super) fn flush_calls(&mut self) -> Result<()> {
        let mut calls = std::mem::take(&mut self.buffers.calls);
        self.insert_calls(&mut calls)
    }

    fn insert_calls(&mut self, calls: &mut WaitingCalls<'_>) -> Result<()> {
        let mut waiting: Vec<_> = calls.calls.drain().map(|(_, (call, _))| call).collect();
        calls.bytes = 0;
        waiting.sort_by_key(|call| call.block_id);
        for mut call in waiting {
            self.store.insert_last(&mut *call)?;
        }
        Ok(())
    }
}

/// The change of a file, from the input of a call.
struct Request<'a> {
    tool_use_id: &'a str,
    change_kind: Option<&'a str>,
    file_path: Option<&'a str>,
    lines_added: Option<i64>,
    lines_removed: Option<i64>,
}

impl<'a> Request<'a> {
    fn of(call: &'a ToolUse<'_>) -> Request<'a> {
        Request {
            tool_use_id: &call.tool_use_id,
            change_kind: call.change_kind,
            file_path: call.file_path.as_deref(),
            lines_added: call.input_lines_added,
            lines_removed: call.input_lines_removed,
        }
    }
}

/// The change of a file, from the result of a call.
struct Outcome<'a> {
    name: &'a str,
    change_kind: Option<&'a str>,
    changed_path: Option<&'a str>,
    lines_added: Option<i64>,
    lines_removed: Option<i64>,
    line_count_source: Option<&'a str>,
    is_user_modified: Option<bool>,
}

/// Milliseconds from a call to its result; `None` if negative or implausible, because the clock was set in between.
fn elapsed_ms(called_at: Option<&str>, finished_at: Option<&str>) -> Option<i64> {
    let called = timestamp::to_milliseconds(called_at?)?;
    let elapsed = timestamp::to_milliseconds(finished_at?)? - called;
    (0..=GREATEST_COUNT).contains(&elapsed).then_some(elapsed)
}

/// The file that a call changed, from its result, else from its input. A failed call changed nothing.
fn file_change<'a>(call: &Request<'a>, result: &Outcome<'a>) -> Option<FileChange<'a>> {
    let called_kind = call.change_kind.filter(|_| result.name == "ok")?;
    let changed_path = result.changed_path.filter(|path| !path.is_empty());
    let change = FileChange {
        tool_use_id: call.tool_use_id.into(),
        file_path: changed_path.or(call.file_path)?.into(),
        is_user_modified: result.is_user_modified,
        ..FileChange::default()
    };
    Some(match result.change_kind {
        // The result has only its text: the input has the content.
        Some("create") if result.lines_added.is_none() => FileChange {
            kind: "create".into(),
            lines_added: call.lines_added,
            lines_removed: call.lines_added.map(|_| 0),
            line_count_source: call.lines_added.map(|_| "input".into()),
            ..change
        },
        // What Write replaced is unknown.
        None if called_kind == "update" => FileChange {
            kind: called_kind.into(),
            ..change
        },
        Some(kind) => FileChange {
            kind: kind.into(),
            lines_added: result.lines_added,
            lines_removed: result.lines_removed,
            line_count_source: result.line_count_source.map(Text::from),
            ..change
        },
        None => FileChange {
            kind: called_kind.into(),
            lines_added: call.lines_added,
            lines_removed: call.lines_removed,
            line_count_source: call.lines_added.map(|_| "input".into()),
            ..change
        },
    })
}

/// A row of `tool_results`.
struct StoredResult {
    tool_result_id: i64,
    elapsed_ms: Option<i64>,
    sent_at: Option<String>,
    texts: [Option<String>; 4],
    lines: [Option<i64>; 2],
    is_user_modified: Option<bool>,
}

/// Settles the touched calls. Returns their ids.
pub(super) fn settle_touched(
    store: &mut Statements<'_>,
    touched: &mut foldhash::HashSet<String>,
) -> Result<()> {
    let connection = store.connection;
    let mut orphans = connection.prepare_cached(sql::FIND_ORPHANED_RESULTS)?;
    let orphans = orphans.query_map([], |row| row.get(0))?;
    touched.extend(orphans.collect::<rusqlite::Result<Vec<String>>>()?);
    store.execute(sql::LINK_ORPHANED_RESULTS, [])?;
    for tool_use_id in &*touched {
        settle_stored(store, tool_use_id)?;
    }
    Ok(())
}

fn settle_stored(store: &mut Statements<'_>, tool_use_id: &str) -> Result<()> {
    let connection = store.connection;
    let call = connection
        .prepare_cached(sql::FIND_CALL_TO_SETTLE)?
        .query_row([tool_use_id], |row| {
            let result: Option<i64> = row.get(0)?;
            let texts: [Option<String>; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
            let lines: [Option<i64>; 2] = [row.get(4)?, row.get(5)?];
            Ok((result, texts, lines))
        })
        .optional()?;
    store.execute(sql::DELETE_FILE_CHANGE, [tool_use_id])?;
    let Some((settled_by, [called_at, change_kind, file_path], lines)) = call else {
        store.execute(sql::FORGET_ELAPSED_TIME, [tool_use_id])?;
        return Ok(());
    };
    let results = connection
        .prepare_cached(sql::FIND_RESULTS_TO_SETTLE)?
        .query_map([tool_use_id], |row| {
            Ok(StoredResult {
                tool_result_id: row.get(0)?,
                elapsed_ms: row.get(1)?,
                sent_at: row.get(2)?,
                texts: [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?],
                lines: [row.get(7)?, row.get(8)?],
                is_user_modified: row.get(9)?,
            })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let first = results.first();
    let settles = first.map(|result| result.tool_result_id);
    if settled_by != settles {
        store.execute(sql::SETTLE_CALL, (tool_use_id, settles))?;
    }
    for result in &results {
        let elapsed_ms = elapsed_ms(called_at.as_deref(), result.sent_at.as_deref());
        if elapsed_ms != result.elapsed_ms {
            store.execute(sql::SET_ELAPSED_TIME, (result.tool_result_id, elapsed_ms))?;
        }
    }
    let request = Request {
        tool_use_id,
        change_kind: change_kind.as_deref(),
        file_path: file_path.as_deref(),
        lines_added: lines[0],
        lines_removed: lines[1],
    };
    let change = first.and_then(|result| {
        let [name, change_kind, changed_path, line_count_source] =
            result.texts.each_ref().map(Option::as_deref);
        let outcome = Outcome {
            name: name.unwrap_or_default(),
            change_kind,
            changed_path,
            lines_added: result.lines[0],
            lines_removed: result.lines[1],
            line_count_source,
            is_user_modified: result.is_user_modified,
        };
        file_change(&request, &outcome)
    });
    match change {
        Some(change) => store.insert(&change),
        None => Ok(()),
    }
}
