//! Work that is deferred to the commit, when all rows can be read and changed.

use super::Loader;
use super::unknown_kinds::UnknownKinds;
use crate::archive::CHUNK_BYTES;
use crate::error::{Error, Problem, Result};
use crate::failures::{ChunkName, Failure, is_ours};
use crate::rows::{Agent, AgentLink, Message};
use crate::store::{Id, Store};
use foldhash::{HashMap, HashSet};
use std::collections::BTreeSet;
use std::path::Path;

/// Rows of small tables, lines that need a lookup, and keys whose rows have to be derived again.
#[derive(Default)]
pub struct Deferred {
    pub projects: HashMap<String, i64>,
    /// The keys of new projects.
    pub new_projects: BTreeSet<i64>,
    /// Agents, with the different forms in which lines name them.
    pub agents: HashMap<Agent<'static>, i64>,
    agent_run_ids: HashMap<(String, String), i64>,
    pub links: BTreeSet<AgentLink>,
    pub models: BTreeSet<String>,
    pub unknown_kinds: UnknownKinds,
    pub lines: Vec<DeferredLine>,
    /// How many of these lines, from the first on, are not counted.
    pub uncounted_lines: usize,
    /// New generations of files, after which older ones are not current.
    pub generations: Vec<i64>,
    /// Sessions named by lines, with the facts of their messages.
    pub sessions: HashMap<String, SessionValues>,
    /// Sessions to derive again if they have a row.
    pub known_sessions: HashSet<String>,
    /// The uuids of messages whose session has to be derived again.
    pub messages: Vec<String>,
    pub responses: HashSet<i64>,
    pub calls: HashSet<String>,
}

/// A line that is not loaded yet, because its uuid or one of its calls was already loaded.
pub struct DeferredLine {
    pub file_id: i64,
    pub line_number: i64,
    pub byte_offset: i64,
    pub byte_length: i64,
}

/// The columns of a session for which its loaded messages have values, and whether its file has messages of other sessions.
#[derive(Default, Clone, Copy)]
pub struct SessionValues {
    pub git_branch: bool,
    pub version: bool,
    pub entrypoint: bool,
    pub slug: bool,
    pub guests: bool,
}

impl<S> Loader<S> {
    /// Converts the error of a deferred line to a failure of its chunk, if the line is the cause.
    pub(super) fn blame(&self, line: &DeferredLine, error: Error) -> Error {
        let Some(file) = self
            .file_keys
            .get(&line.file_id)
            .filter(|_| is_ours(&error))
        else {
            return error;
        };
        let home = (&file.machine_id, &file.root_path);
        let is_of_file = |source: &(&i64, &(String, String))| (&source.1.0, &source.1.1) == home;
        let Some((source_id, _)) = self.sources.iter().find(is_of_file) else {
            return error;
        };
        Error::Failed(Box::new(Failure {
            chunk: ChunkName {
                source_id: *source_id,
                path: file.path.clone(),
                generation: file.generation,
                position: line.byte_offset.cast_unsigned() / CHUNK_BYTES,
            },
            problem: Problem::new(Path::new(&file.root_path).join(&file.path), error),
        }))
    }
}

impl Deferred {
    /// Defers a line to the commit.
    pub fn defer(&mut self, message: &Message<'_>) {
        self.lines.push(DeferredLine {
            file_id: message.file_id,
            line_number: message.line_number,
            byte_offset: message.byte_offset,
            byte_length: message.byte_length,
        });
    }

    /// Marks a session that a line names, to derive it again.
    pub fn touch_session(&mut self, session_id: Option<&str>) {
        if let Some(session_id) = session_id {
            self.session(session_id);
        }
    }

    /// Marks a session that is derived again only if it has a row.
    pub fn touch_known_session(&mut self, session_id: Option<&str>) {
        if let Some(session_id) = session_id
            && !self.known_sessions.contains(session_id)
        {
            self.known_sessions.insert(session_id.to_string());
        }
    }

    /// Marks the session of a message, to derive it again.
    pub fn touch_session_of(&mut self, uuid: Option<&str>) {
        self.messages.extend(uuid.map(str::to_string));
    }

    /// Marks a call, to settle it again with all its results.
    pub fn touch_call(&mut self, tool_use_id: &str) {
        if !self.calls.contains(tool_use_id) {
            self.calls.insert(tool_use_id.to_string());
        }
    }

    fn session(&mut self, session_id: &str) -> &mut SessionValues {
        if !self.sessions.contains_key(session_id) {
            self.sessions
                .insert(session_id.to_string(), SessionValues::default());
        }
        self.sessions.get_mut(session_id).expect("it is there")
    }

    /// Marks the session of a message and that of its file.
    pub fn touch_session_by(&mut self, message: &Message<'_>, host: Option<&str>) {
        let Some(session_id) = message.session_id.as_deref() else {
            return;
        };
        let values = self.session(session_id);
        values.git_branch |= message.git_branch.is_some();
        values.version |= message.version.is_some();
        values.entrypoint |= message.entrypoint.is_some();
        values.slug |= message.slug.is_some();
        if let Some(host) = host.filter(|host| *host != session_id) {
            self.session(host).guests = true;
        }
    }

    /// Adds links between agents and calls. Links without a session are dropped.
    pub fn link(&mut self, links: Vec<AgentLink>, session_id: Option<&str>) {
        let Some(session_id) = session_id else {
            return;
        };
        self.links.extend(links.into_iter().map(|link| AgentLink {
            session_id: session_id.to_string(),
            ..link
        }));
    }
}

impl<S: Store> Loader<S> {
    /// The key of a project, by its folder name.
    pub(super) fn project_key(&mut self, name: &str) -> Result<i64> {
        if let Some(key) = self.deferred.projects.get(name) {
            return Ok(*key);
        }
        let key = match self.store.find(Id::Project(name))? {
            Some(key) => key,
            None => {
                self.keys.project += 1;
                self.deferred.new_projects.insert(self.keys.project);
                self.keys.project
            }
        };
        self.deferred.projects.insert(name.to_string(), key);
        Ok(key)
    }

    pub(super) fn agent_run_id(&mut self, agent: &Agent<'_>) -> Result<i64> {
        if let Some(key) = self.deferred.agents.get(agent) {
            return Ok(*key);
        }
        self.deferred.touch_session(Some(&agent.session_id));
        let name = (agent.session_id.to_string(), agent.agent_id.to_string());
        let key = match self.deferred.agent_run_ids.get(&name) {
            Some(key) => *key,
            None => match self.store.find(Id::Agent(&name.0, &name.1))? {
                Some(key) => key,
                None => {
                    self.keys.agent += 1;
                    self.keys.agent
                }
            },
        };
        self.deferred.agent_run_ids.insert(name, key);
        self.deferred.agents.insert(agent.clone().into_owned(), key);
        Ok(key)
    }
}
