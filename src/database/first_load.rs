//! The first load of a new database: rows are written straight into its file.
//!
//! While it is filled nobody can ask it anything, so what later lines refer to is remembered here: messages, responses and
//! calls by their ids. Few lines need more than that: a uuid or a call that was there before. They are put aside and go the
//! way of every later sync, through [`Loader`], when the file is a database again. So are the few rows of small tables, and
//! everything that depends on several lines. The content is a function of the set of lines, so that this changes nothing.

use super::copies::{FileKey, from_bytes};
use super::known::KnownIds;
use super::load::{Batch, Counts, FileVersion, Load, Loaded, Loader, UnknownKinds};
use super::responses::NewResponse;
use super::sqlite_file::SqliteFile;
use super::statements as sql;
use crate::archive::{self, CHUNK_BYTES};
use crate::discover::{Kind, Stat};
use crate::error::Result;
use crate::pipeline::Pipeline;
use crate::rows::{
    Agent, AgentLink, ArchiveChunk, BlockRows, EventRows, File, FileChange, Insert, Message,
    MessageRows, Rows, Text, ToolResult, ToolUse, Usage,
};
use crate::timestamp;
use foldhash::{HashMap, HashSet};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Writes batches in their order.
pub struct FirstLoad {
    file: SqliteFile,
    /// The homes: machine and folder.
    sources: HashMap<i64, (String, String)>,
    /// The file whose batches are being written.
    open_file: Option<(Arc<FileVersion>, File)>,
    last_block_id: i64,
    last_event_id: i64,
    last_result_id: i64,
    last_history_id: i64,
    /// The last message, by its uuid: mostly the parent of the next.
    last_message: (String, i64),
    messages: KnownIds,
    responses: KnownIds,
    calls: KnownIds,
    open: Open<'static>,
    /// Responses of agents that only their parents have told of, by the ids of the API. Their own lines mostly follow in the
    /// next files, and only then they have keys: in a new table rows stand in the order of these.
    echoes: BTreeMap<String, NewResponse<'static>>,
    echoed_lines: usize,
    rest: Rest,
}

/// What is not written yet since more may belong to it. Most of that stands in the same chunk.
#[derive(Default)]
struct Open<'a> {
    responses: BTreeMap<i64, NewResponse<'a>>,
    /// Of the open file.
    calls: OpenCalls<'a>,
}

/// Calls that wait for their answer until their file ends: by their ids, with the time they were made at.
#[derive(Default)]
struct OpenCalls<'a> {
    calls: HashMap<Text<'a>, (Box<ToolUse<'a>>, i64)>,
    /// Of their inputs.
    bytes: usize,
}

/// What is left to be done when the file is a database again.
#[derive(Default)]
struct Rest {
    /// Of each file its home and its path. The key of the first is 1.
    files: Vec<(i64, String)>,
    projects: Vec<String>,
    project_ids: HashMap<String, i64>,
    agents: Vec<Agent<'static>>,
    agent_keys: HashMap<(String, String), i64>,
    known_agents: HashMap<Agent<'static>, i64>,
    links: BTreeSet<AgentLink>,
    models: BTreeSet<String>,
    unknown_kinds: UnknownKinds,
    later: Vec<Later>,
    sessions: HashMap<String, Told>,
    /// Sessions whose files have messages of others.
    hosts: HashSet<String>,
    touched_responses: HashSet<i64>,
    touched_tool_uses: HashSet<String>,
    counts: Counts,
}

/// What the messages of a session tell, so that they need not be read again for what none of them says.
#[derive(Default)]
struct Told {
    git_branch: bool,
    version: bool,
    entrypoint: bool,
    slug: bool,
}

/// A line that was put aside.
struct Later {
    file_id: i64,
    line_number: i64,
    byte_offset: i64,
    byte_length: i64,
}

/// A call waits for its answer as long as those that wait take no more than this.
const OPEN_BYTES: usize = 4 << 20;

/// So many responses wait for further lines when their chunk is written. These mostly follow at once.
const OPEN_RESPONSES: usize = 8;

/// But none does that has so many already.
const OPEN_LINES: usize = 256;

/// So many lines that tell of agents wait for the lines of these.
const ECHOED_LINES: usize = 8192;

impl FirstLoad {
    /// Takes a new database that has nothing but its homes.
    pub fn new(connection: Connection, path: &Path) -> Result<FirstLoad> {
        let mut statement = connection.prepare(sql::ALL_SOURCES)?;
        let sources = statement
            .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
            .collect::<rusqlite::Result<_>>()?;
        drop(statement);
        Ok(FirstLoad {
            file: SqliteFile::new(connection, path)?,
            sources,
            open_file: None,
            last_block_id: 0,
            last_event_id: 0,
            last_result_id: 0,
            last_history_id: 0,
            last_message: (String::new(), 0),
            messages: KnownIds::default(),
            responses: KnownIds::default(),
            calls: KnownIds::default(),
            open: Open::default(),
            echoes: BTreeMap::new(),
            echoed_lines: 0,
            rest: Rest::default(),
        })
    }

    /// Notes a file that is not opened.
    pub fn count(&mut self, version: &FileVersion) -> Result<()> {
        let mut file = self.new_file(version);
        if let Some(stat) = &version.stat {
            file.size_bytes = stat.size.cast_signed();
            stamp(&mut file, stat, version.is_racy);
        }
        self.file.insert(&file)
    }

    /// Makes the file a database again. Returns what is left for a loader to do.
    pub fn finish(mut self, pipeline: &Pipeline) -> Result<HandOver> {
        self.close_file()?;
        let mut open = std::mem::take(&mut self.open);
        self.write_echoes(&mut open.responses)?;
        let FirstLoad { file, rest, .. } = self;
        file.finish(pipeline)?;
        Ok(HandOver { rest })
    }

    fn new_file(&mut self, version: &FileVersion) -> File {
        let rest = &mut self.rest;
        let project_id = version.place.directory_name.as_ref().map(|name| {
            *rest.project_ids.entry(name.clone()).or_insert_with(|| {
                rest.projects.push(name.clone());
                rest.projects.len() as i64
            })
        });
        rest.files.push((version.source_id, version.path.clone()));
        let now = timestamp::now();
        File {
            file_id: rest.files.len() as i64,
            source_id: version.source_id,
            project_id,
            path: version.path.clone(),
            path_bytes: version.path_bytes.clone(),
            kind: version.place.kind.name(),
            session_id: version.place.session_id.clone(),
            generation: version.generation,
            is_racy: true,
            is_current: true,
            first_seen_at: now.clone(),
            last_synced_at: now,
            ..File::default()
        }
    }

    /// Writes the row of the file that is open, and the calls in it that nobody answered.
    fn close_file(&mut self) -> Result<()> {
        if let Some((_, file)) = self.open_file.take() {
            self.file.insert(&file)?;
        }
        let mut calls = std::mem::take(&mut self.open.calls);
        self.write_open_calls(&mut calls)
    }

    fn write_rows(
        &mut self,
        rows: &mut Rows<'_>,
        file_id: i64,
        path: &str,
        first_line: i64,
    ) -> Result<()> {
        let mut open = std::mem::take(&mut self.open);
        for message in &mut rows.messages {
            message.message.file_id = file_id;
            message.message.line_number += first_line;
            self.write_message(message, &mut open)?;
        }
        if self.echoed_lines > ECHOED_LINES {
            self.write_echoes(&mut open.responses)?;
        } else {
            let mut responses = open.responses.values();
            let is_long = responses.any(|response| response.line_count() > OPEN_LINES);
            let left = if is_long { 0 } else { OPEN_RESPONSES };
            self.write_responses(&mut open.responses, left)?;
        }
        self.open = open.into_owned();
        for event in &mut rows.events {
            event.event.file_id = file_id;
            event.event.line_number += first_line;
            self.write_event(event)?;
        }
        for rows in &mut rows.history_prompts {
            self.last_history_id += 1;
            rows.prompt.history_prompt_id = self.last_history_id;
            rows.prompt.file_id = file_id;
            rows.prompt.line_number += first_line;
            self.file.insert(&rows.prompt)?;
            for pasted in &mut rows.pasted_contents {
                pasted.history_prompt_id = self.last_history_id;
                self.file.insert(pasted)?;
            }
            self.rest.counts.events += 1;
        }
        for document in rows.documents.drain(..) {
            document.insert(file_id, &mut self.file)?;
        }
        for line in &mut rows.rejected_lines {
            line.file_id = file_id;
            line.line_number += first_line;
            self.rest.counts.reject(path, line);
            self.file.insert(line)?;
        }
        self.rest
            .unknown_kinds
            .add(&rows.unknown_kinds, file_id, path, first_line);
        Ok(())
    }

    fn write_message<'a>(&mut self, rows: &mut MessageRows<'a>, open: &mut Open<'a>) -> Result<()> {
        let MessageRows {
            message,
            agent,
            blocks,
            usage,
            links,
            notifications,
        } = rows;
        let file = self.open_file.as_ref().map(|(_, file)| file);
        self.rest.tell(message, file);
        let ids = || {
            let blocks = blocks.iter();
            blocks.filter_map(|block| Some(&*block.tool_use.as_ref()?.tool_use_id))
        };
        let is_repeated =
            |id| self.calls.get(id).is_some() || ids().filter(|other| *other == id).count() > 1;
        let find = |uuid: &Option<Text<'_>>| match (uuid.as_deref()?, &self.last_message) {
            (uuid, (last, message_id)) if uuid == last && *message_id > 0 => Some(*message_id),
            (uuid, _) => self.messages.get(uuid),
        };
        message.parent_message_id = find(&message.parent_uuid);
        message.logical_parent_message_id = find(&message.logical_parent_uuid);
        let new_id = match ids().any(is_repeated) {
            true => None,
            false => self.messages.add(&message.uuid),
        };
        let Some(message_id) = new_id else {
            self.rest.later.push(Later {
                file_id: message.file_id,
                line_number: message.line_number,
                byte_offset: message.byte_offset,
                byte_length: message.byte_length,
            });
            return Ok(());
        };
        message.message_id = message_id;
        self.last_message.0.clear();
        self.last_message.0.push_str(&message.uuid);
        self.last_message.1 = message_id;
        message.agent_key = agent.as_ref().map(|agent| self.rest.agent_key(agent));
        self.rest.counts.messages += 1;
        if let Some(usage) = usage {
            self.write_usage(usage, message, &mut open.responses)?;
        }
        self.file.insert(message)?;
        self.rest
            .link(std::mem::take(links), message.session_id.as_deref());
        for notification in notifications {
            notification.deliver(message);
            self.file.insert(notification)?;
        }
        for block in blocks {
            self.write_block(block, message, &mut open.calls)?;
        }
        Ok(())
    }

    /// Notes the usage of a line: with its response, if that is not written yet.
    fn write_usage<'a>(
        &mut self,
        usage: &mut Usage<'a>,
        message: &mut Message<'a>,
        open: &mut BTreeMap<i64, NewResponse<'a>>,
    ) -> Result<()> {
        let line = &mut usage.line;
        line.agent_key = match &usage.agent {
            Some(agent) => Some(self.rest.agent_key(agent)),
            None => message.agent_key,
        };
        line.of(message);
        if let Some(model) = line.model.as_deref()
            && !self.rest.models.contains(model)
        {
            self.rest.models.insert(model.to_string());
        }
        let name = &usage.api_message_id;
        let version = message.version.as_deref();
        let known = self.responses.get(name);
        if known.is_none() && line.is_progress {
            let echo = self.echoes.entry(name.to_string());
            echo.or_insert_with(|| NewResponse::new(name.to_string().into()))
                .add(std::mem::take(line).into_owned(), version);
            self.echoed_lines += 1;
            return Ok(());
        }
        let id = known.unwrap_or_else(|| {
            let id = self.responses.add(name).expect("it is not known");
            let echo = self.echoes.remove(&**name);
            let response = echo.unwrap_or_else(|| NewResponse::new(name.clone()));
            self.echoed_lines -= response.line_count();
            open.insert(id, response);
            id
        });
        line.api_response_id = id;
        if !line.is_progress {
            message.api_response_id = Some(id);
        }
        match open.get_mut(&id) {
            Some(response) => response.add(std::mem::take(line), version),
            None => {
                self.rest.touched_responses.insert(id);
                self.file.insert(line)?;
            }
        }
        Ok(())
    }

    /// Writes all responses, also those that only parents have told of.
    fn write_echoes(&mut self, open: &mut BTreeMap<i64, NewResponse<'_>>) -> Result<()> {
        self.write_responses(open, 0)?;
        self.echoed_lines = 0;
        let mut echoes = BTreeMap::new();
        for (name, echo) in std::mem::take(&mut self.echoes) {
            let id = self.responses.add(&name).expect("it is not known");
            echoes.insert(id, echo);
        }
        self.write_responses(&mut echoes, 0)
    }

    /// Writes the responses that are new but for so many of the last, each with the lines it has by now.
    fn write_responses(
        &mut self,
        open: &mut BTreeMap<i64, NewResponse<'_>>,
        left: usize,
    ) -> Result<()> {
        let (sources, files) = (&self.sources, &self.rest.files);
        let file_key = |file_id: i64| {
            let (source_id, path) = &files[file_id as usize - 1];
            let (machine, root_path) = &sources[source_id];
            Ok(FileKey {
                path: path.clone(),
                machine: machine.clone(),
                root_path: root_path.clone(),
                generation: 1,
            })
        };
        while open.len() > left
            && let Some((id, response)) = open.pop_first()
        {
            if response.write(id, file_key, &mut self.file)? {
                self.rest.touched_responses.insert(id);
            }
        }
        Ok(())
    }

    fn write_block<'a>(
        &mut self,
        rows: &mut BlockRows<'a>,
        message: &Message<'a>,
        calls: &mut OpenCalls<'a>,
    ) -> Result<()> {
        let sent_at = message.sent_at.as_deref();
        let block = &mut rows.block;
        self.last_block_id += 1;
        block.block_id = self.last_block_id;
        block.message_id = message.message_id;
        self.file.insert(block)?;
        if let Some(mut call) = rows.tool_use.take() {
            call.message_id = message.message_id;
            call.block_id = block.block_id;
            self.note_call(call, sent_at, calls)?;
        }
        if let Some(result) = &mut rows.tool_result {
            self.last_result_id += 1;
            result.tool_result_id = self.last_result_id;
            result.message_id = message.message_id;
            result.block_id = block.block_id;
            self.settle_answer(result, sent_at, calls)?;
            self.file.insert(&**result)?;
            for operation in &mut rows.git_operations {
                operation.tool_result_id = self.last_result_id;
                self.file.insert(operation)?;
            }
            if let Some(request) = &mut rows.web_request {
                request.tool_result_id = self.last_result_id;
                self.file.insert(&**request)?;
            }
        }
        Ok(())
    }

    /// Keeps a call until its answer comes. Where more has to be known than the two, it is looked at again at the end.
    fn note_call<'a>(
        &mut self,
        call: Box<ToolUse<'a>>,
        sent_at: Option<&str>,
        calls: &mut OpenCalls<'a>,
    ) -> Result<()> {
        self.calls.add(&call.tool_use_id);
        let touched = &mut self.rest.touched_tool_uses;
        let is_plain = call.is_plain() && !touched.contains(&*call.tool_use_id);
        let time = sent_at.and_then(timestamp::to_milliseconds);
        let Some(time) = time.filter(|_| is_plain) else {
            touched.insert(call.tool_use_id.to_string());
            return self.file.insert(&*call);
        };
        calls.add(call, time);
        match calls.bytes > OPEN_BYTES {
            true => self.write_open_calls(calls),
            false => Ok(()),
        }
    }

    /// Ties an answer to its call: the rule of sql/derive/25 for the first answer to a call that waits for it.
    fn settle_answer<'a>(
        &mut self,
        result: &mut ToolResult<'a>,
        sent_at: Option<&str>,
        calls: &mut OpenCalls<'a>,
    ) -> Result<()> {
        let Some(tool_use_id) = &result.source_tool_use_id else {
            return Ok(());
        };
        let Some((mut call, called)) = calls.take(tool_use_id) else {
            if self.calls.get(tool_use_id).is_some() {
                result.tool_use_id = Some(tool_use_id.clone());
            }
            self.rest.touched_tool_uses.insert(tool_use_id.to_string());
            return Ok(());
        };
        result.tool_use_id = Some(tool_use_id.clone());
        match sent_at.and_then(timestamp::to_milliseconds) {
            Some(answered) => {
                result.elapsed_ms = Some(answered - called);
                call.tool_result_id = Some(result.tool_result_id);
                if let Some(change) = file_change(&call, result) {
                    self.file.insert(&change)?;
                }
            }
            None => {
                self.rest.touched_tool_uses.insert(tool_use_id.to_string());
            }
        }
        self.file.insert(&*call)
    }

    /// Writes the calls that wait for an answer. If one comes all the same, it is looked at again at the end.
    fn write_open_calls(&mut self, calls: &mut OpenCalls<'_>) -> Result<()> {
        let mut waiting: Vec<_> = calls.calls.drain().map(|(_, (call, _))| call).collect();
        calls.bytes = 0;
        waiting.sort_by_key(|call| call.block_id);
        for call in waiting {
            self.file.insert(&*call)?;
        }
        Ok(())
    }

    fn write_event(&mut self, rows: &mut EventRows<'_>) -> Result<()> {
        self.last_event_id += 1;
        self.rest.counts.events += 1;
        let event = &mut rows.event;
        event.event_id = self.last_event_id;
        self.rest.touch_session(event.session_id.as_deref());
        self.file.insert(event)?;
        for backup in &mut rows.file_backups {
            backup.event_id = event.event_id;
            self.file.insert(backup)?;
        }
        self.rest
            .link(std::mem::take(&mut rows.links), event.session_id.as_deref());
        for notification in &mut rows.notifications {
            notification.queue(event);
            self.file.insert(notification)?;
        }
        Ok(())
    }
}

impl Open<'_> {
    /// The same, borrowing nothing: it waits on when its chunk is gone.
    fn into_owned(self) -> Open<'static> {
        let own = |(id, response): (i64, NewResponse<'_>)| (id, response.into_owned());
        Open {
            responses: self.responses.into_iter().map(own).collect(),
            calls: self.calls.into_owned(),
        }
    }
}

impl<'a> OpenCalls<'a> {
    fn add(&mut self, call: Box<ToolUse<'a>>, time: i64) {
        self.bytes += input_bytes(&call);
        self.calls.insert(call.tool_use_id.clone(), (call, time));
    }

    fn take(&mut self, tool_use_id: &str) -> Option<(Box<ToolUse<'a>>, i64)> {
        let (call, time) = self.calls.remove(tool_use_id)?;
        self.bytes -= input_bytes(&call);
        Some((call, time))
    }

    /// The same, borrowing nothing.
    fn into_owned(self) -> OpenCalls<'static> {
        let calls = self.calls.into_values().map(|(call, time)| {
            let call = Box::new(call.into_owned());
            (call.tool_use_id.clone(), (call, time))
        });
        OpenCalls {
            calls: calls.collect(),
            bytes: self.bytes,
        }
    }
}

/// The file that a call changed by its answer: the rule of sql/derive/26.
fn file_change<'a>(call: &ToolUse<'a>, answer: &ToolResult<'a>) -> Option<FileChange<'a>> {
    let call_kind = call.change_kind.filter(|_| answer.outcome == "ok")?;
    let changed_path = answer.changed_path.clone().filter(|path| !path.is_empty());
    let (kind, lines_added, lines_removed, line_count_source) = match answer.change_kind {
        Some(kind) => (
            kind,
            answer.lines_added,
            answer.lines_removed,
            answer.line_count_source,
        ),
        None => (
            call_kind,
            call.input_lines_added,
            call.input_lines_removed,
            call.input_lines_added.map(|_| "input"),
        ),
    };
    Some(FileChange {
        tool_use_id: call.tool_use_id.clone(),
        file_path: changed_path.or_else(|| call.file_path.clone())?,
        kind,
        lines_added,
        lines_removed,
        line_count_source,
        is_user_modified: answer.is_user_modified,
    })
}

fn input_bytes(call: &ToolUse<'_>) -> usize {
    call.input_json.as_ref().map_or(0, |json| json.len())
}

impl Load for FirstLoad {
    fn load(&mut self, batch: &mut Batch<'_>) -> Result<Loaded> {
        let is_same = |(version, _): &(Arc<FileVersion>, File)| Arc::ptr_eq(version, &batch.file);
        if !self.open_file.as_ref().is_some_and(is_same) {
            self.close_file()?;
            let file = self.new_file(&batch.file);
            self.open_file = Some((batch.file.clone(), file));
        }
        let (_, file) = self.open_file.as_mut().expect("it was opened");
        let first_line = file.newline_count + 1;
        file.size_bytes = batch.end.cast_signed();
        file.archived_bytes = file.size_bytes;
        file.parsed_bytes = (batch.parsed).map_or(file.parsed_bytes, u64::cast_signed);
        file.newline_count += batch.rows.newline_count;
        file.blank_line_count += batch.rows.blank_line_count;
        file.line_count = file.newline_count + i64::from(batch.rows.has_tail);
        if let (Some(stat), true) = (&batch.file.stat, batch.is_last) {
            stamp(file, stat, batch.file.is_racy);
        }
        let file_id = file.file_id;
        self.rest.counts.lines += batch.rows.newline_count + i64::from(batch.rows.has_tail);
        if let Some(chunk) = batch.chunk.take() {
            self.rest.counts.bytes += chunk.new_bytes;
            file.archived_hash = Some(chunk.running_hash);
            self.file.insert(&ArchiveChunk {
                file_id,
                position: chunk.position.cast_signed(),
                byte_offset: (chunk.position * CHUNK_BYTES).cast_signed(),
                byte_length: chunk.byte_length.cast_signed(),
                content: chunk.content,
                content_hash: chunk.hash,
            })?;
        }
        self.write_rows(&mut batch.rows, file_id, &batch.file.path, first_line)?;
        if batch.is_last {
            self.close_file()?;
        }
        Ok(Loaded::Written)
    }

    /// Nothing is permanent before all of it is.
    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn counts(&self) -> &Counts {
        &self.rest.counts
    }
}

fn stamp(file: &mut File, stat: &Stat, is_racy: bool) {
    file.modified_ns = stat.modified_ns;
    file.changed_ns = stat.changed_ns;
    file.device = stat.device;
    file.inode = stat.inode;
    file.is_racy = is_racy;
}

impl Rest {
    fn touch_session(&mut self, session_id: Option<&str>) {
        if let Some(session_id) = session_id {
            self.told(session_id);
        }
    }

    fn told(&mut self, session_id: &str) -> &mut Told {
        if !self.sessions.contains_key(session_id) {
            let told = Told::default();
            self.sessions.insert(session_id.to_string(), told);
        }
        self.sessions.get_mut(session_id).expect("it is there")
    }

    /// Notes what a message tells of its session, and of the one whose file it stands in.
    fn tell(&mut self, message: &Message<'_>, file: Option<&File>) {
        let Some(session_id) = message.session_id.as_deref() else {
            return;
        };
        let told = self.told(session_id);
        told.git_branch |= message.git_branch.is_some();
        told.version |= message.version.is_some();
        told.entrypoint |= message.entrypoint.is_some();
        told.slug |= message.slug.is_some();
        let host = file.filter(|file| file.kind == Kind::Session.name());
        let host = host.and_then(|file| file.session_id.as_deref());
        if let Some(host) = host.filter(|host| *host != session_id)
            && !self.hosts.contains(host)
        {
            self.hosts.insert(host.to_string());
        }
    }

    fn agent_key(&mut self, agent: &Agent<'_>) -> i64 {
        if let Some(key) = self.known_agents.get(agent) {
            return *key;
        }
        self.touch_session(Some(&agent.session_id));
        let next = self.agent_keys.len() as i64 + 1;
        let name = (agent.session_id.to_string(), agent.agent_id.to_string());
        let key = *self.agent_keys.entry(name).or_insert(next);
        let agent = agent.clone().into_owned();
        self.agents.push(agent.clone());
        self.known_agents.insert(agent, key);
        key
    }

    fn link(&mut self, links: Vec<AgentLink>, session_id: Option<&str>) {
        let Some(session_id) = session_id else {
            return;
        };
        self.links.extend(links.into_iter().map(|link| AgentLink {
            session_id: session_id.to_string(),
            ..link
        }));
    }
}

/// What a first load leaves to be done.
pub struct HandOver {
    rest: Rest,
}

impl HandOver {
    /// Does it, but for what every commit does.
    pub fn give(self, loader: &mut Loader<'_>) -> Result<()> {
        let rest = self.rest;
        loader.is_unchecked = true;
        loader.begin()?;
        loader.connection.execute_batch(sql::RESOLVE_ALL)?;
        let connection = loader.connection;
        let mut upsert = connection.prepare(sql::UPSERT_PROJECT)?;
        for name in &rest.projects {
            upsert.query_row([name], |_| Ok(()))?;
        }
        for agent in rest.agents {
            let expected = rest.known_agents[&agent];
            let key = loader.agent_key(agent)?;
            assert_eq!(key, expected, "keys are given in the same order");
        }
        for link in &rest.links {
            loader.inserter.insert(link)?;
        }
        for model in rest.models {
            loader.name_model(&model)?;
        }
        loader.write_unknown_kinds(&rest.unknown_kinds)?;
        let mut tell = connection.prepare(sql::TELL_SESSION)?;
        for (session_id, told) in rest.sessions {
            let Told {
                git_branch,
                version,
                entrypoint,
                slug,
            } = told;
            let is_host = rest.hosts.contains(&session_id);
            tell.execute((&session_id, git_branch, version, entrypoint, slug, is_host))?;
            loader.touched_sessions.insert(session_id);
        }
        loader.touched_responses.extend(rest.touched_responses);
        loader.touched_tool_uses.extend(rest.touched_tool_uses);
        loader.counts = rest.counts;
        let mut archive = archive::Reader::default();
        for line in rest.later {
            let (_, path) = &rest.files[line.file_id as usize - 1];
            let bytes = archive.read(
                connection,
                line.file_id,
                line.byte_offset.cast_unsigned(),
                line.byte_length.cast_unsigned(),
            );
            let position = (line.file_id, line.line_number, line.byte_offset);
            let bytes = bytes.map_err(crate::error::Error::io(path))?;
            loader.write_message(from_bytes(position, path, &bytes)?)?;
        }
        Ok(())
    }
}
