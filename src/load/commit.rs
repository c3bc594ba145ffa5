//! The commit: does the deferred work, runs the derive scripts, and commits the transaction.

use super::deferred::Deferred;
use super::{Counts, Loader, calls, read_sources};
use crate::archive;
use crate::database::derive::{self, Group};
use crate::database::parallel::{self, Filling};
use crate::database::refresh::Stale;
use crate::database::{Stage, check_references, create_stage, refresh, statements as sql, upgrade};
use crate::discover::Stat;
use crate::error::Result;
use crate::pipeline::{Pipeline, Task};
use crate::store::{LastKeys, Statements};
use crate::timestamp;
use foldhash::HashMap;
use rusqlite::{Connection, params};
use std::path::Path;

/// The state of a loader between commits.
#[derive(Default)]
pub struct State {
    /// Whether foreign keys are off and have to be checked at the end.
    is_unchecked: bool,
    /// Whether the database is new and has no journal yet.
    is_new: bool,
    /// Whether prices, words and views are up to date.
    is_refreshed: bool,
    /// The user's indexes and triggers on replaced tables, to create again at the end.
    of_the_user: Vec<String>,
    /// Whether nothing was derived before this run.
    begins_empty: bool,
    /// What must be derived again, even if no line is new.
    stale: Stale,
}

/// The path of a new database that other threads may read, and the pipeline of these threads.
pub type Shared<'a> = (&'a Path, &'a Pipeline);

/// The state of a loader after it has filled a new database.
pub struct Written {
    pub(super) keys: LastKeys,
    pub(super) deferred: Deferred,
    pub(super) counts: Counts,
}

impl<'c> Loader<Statements<'c>> {
    /// A loader for an existing database.
    pub fn new(connection: &'c Connection) -> Result<Self> {
        let mut loader = Loader::unread(connection)?;
        loader.sources = read_sources(connection)?;
        loader.keys = loader.store.read_keys()?;
        loader.commit.begins_empty = loader.store.touches_all()?;
        Ok(loader)
    }

    pub fn connection(&self) -> &'c Connection {
        self.store.connection
    }

    fn unread(connection: &'c Connection) -> Result<Self> {
        let store = Statements::new(connection)?;
        Ok(Loader::with(store, HashMap::default()))
    }

    /// Continues after [`Loader::finish_pages`].
    pub fn resume(connection: &'c Connection, written: Written) -> Result<Self> {
        let mut loader = Loader::new(connection)?;
        loader.begin()?;
        connection.execute_batch(sql::RESET_WATERMARKS)?;
        loader.commit.is_unchecked = true;
        loader.commit.is_new = true;
        loader.commit.begins_empty = true;
        loader.keys = written.keys;
        loader.deferred = written.deferred;
        loader.counts = written.counts;
        Ok(loader)
    }

    /// A loader that replaces all derived tables by empty ones of this schema, to fill them again. Foreign keys are
    /// off from then on.
    pub fn rebuild(connection: &'c Connection) -> Result<Self> {
        // Tables are replaced one by one, so references are checked at the end.
        connection.pragma_update(None, "foreign_keys", false)?;
        let mut loader = Loader::unread(connection)?;
        loader.begin()?;
        loader.commit.of_the_user = upgrade::replace_tables(connection)?;
        loader.sources = read_sources(connection)?;
        create_stage(connection, Stage::Empty)?;
        // Keys start at 1, as in a first sync.
        loader.keys = loader.store.read_keys()?;
        connection.execute_batch(sql::RESET_KEPT_TABLES)?;
        loader.commit.begins_empty = true;
        loader.commit.is_unchecked = true;
        Ok(loader)
    }

    /// Counts only what is loaded from now on.
    pub fn restart_counts(&mut self) {
        self.counts = Counts::default();
        self.deferred.uncounted_lines = self.deferred.lines.len();
    }

    /// Commits all loaded rows, with everything derived from them.
    pub(super) fn commit_all(&mut self) -> Result<()> {
        if self.store.is_open() {
            self.derive(None)?;
            self.store.commit()?;
        }
        Ok(())
    }

    /// The last commit of a run. Also updates indexes, prices, words and views, in the same transaction.
    pub fn finish(&mut self) -> Result<()> {
        self.finish_with(None, |_, _| Ok(()))
    }

    /// The same, with a function that writes last. Other threads can read a new database and do part of the work.
    pub fn finish_with(
        &mut self,
        shared: Option<Shared<'_>>,
        write: impl FnOnce(&Connection, &Counts) -> Result<()>,
    ) -> Result<()> {
        let connection = self.store.connection;
        let is_new = self.store.is_open();
        self.begin()?;
        create_stage(connection, Stage::Empty)?;
        create_stage(connection, Stage::Loaded)?;
        self.refresh()?;
        // Without new rows there is nothing to derive.
        let checking = match is_new || self.commit.stale != Stale::Nothing {
            true => self.derive(shared)?,
            false => None,
        };
        create_stage(connection, Stage::Resolved)?;
        for statement in self.commit.of_the_user.drain(..) {
            connection.execute_batch(&statement)?;
        }
        match checking {
            Some(checking) => checking.join()?,
            None if self.commit.is_unchecked => check_references(connection)?,
            None => {}
        }
        write(connection, &self.counts)?;
        self.store.commit()
    }

    /// Lets other threads read the rows that a new database has now.
    fn open_to_others(&mut self) -> Result<()> {
        let connection = self.store.connection;
        self.store.commit()?;
        connection.pragma_update(None, "locking_mode", "normal")?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        self.store.accept_data_version()?;
        self.begin()
    }

    /// Lets them read the rows written since.
    fn show_to_others(&mut self) -> Result<()> {
        self.store.commit()?;
        self.begin()
    }

    /// Updates prices, words and views once, because derived rows depend on them.
    fn refresh(&mut self) -> Result<()> {
        if !self.commit.is_refreshed {
            let stale = refresh::refresh(self.store.connection)?;
            if !self.commit.begins_empty {
                self.commit.stale = stale;
            }
            if self.commit.stale == Stale::Everything {
                self.store.connection.execute_batch(sql::TOUCH_ALL)?;
            }
            self.commit.is_refreshed = true;
        }
        Ok(())
    }

    /// Runs the derive scripts. Returns the task that checks the references at the same time.
    fn derive(&mut self, shared: Option<Shared<'_>>) -> Result<Option<Task<Result<()>>>> {
        let connection = self.store.connection;
        self.refresh()?;
        self.flush()?;
        if std::mem::take(&mut self.commit.is_new) {
            // Without a journal, a failed script could not be rolled back.
            self.open_to_others()?;
        }
        self.derive_group(derive::REFERENCES, Vec::new())?;
        let mut checking = None;
        match shared {
            None => {
                self.derive_groups(&derive::REST)?;
                self.derive_group(derive::SEARCH, Vec::new())?;
                if self.commit.stale == Stale::Rollups {
                    connection.execute_batch(sql::TOUCH_ALL)?;
                    self.commit.stale = Stale::Nothing;
                }
                self.derive_group(derive::ROLLUPS, Vec::new())?;
            }
            Some((path, pipeline)) => {
                self.show_to_others()?;
                let tools = Filling::begin(parallel::TOOLS, path, pipeline);
                self.derive_groups(&derive::REST)?;
                self.show_to_others()?;
                let corrections = Filling::begin(parallel::CORRECTIONS, path, pipeline);
                let responses = Filling::begin(parallel::RESPONSES, path, pipeline);
                self.derive_group(derive::SEARCH, Vec::new())?;
                self.show_to_others()?;
                checking = Some(parallel::begin_to_check(path, pipeline));
                let filled = vec![tools, corrections, responses];
                self.derive_group(derive::ROLLUPS, filled)?;
            }
        }
        refresh::record_basis(connection, self.failures.is_empty())?;
        connection.execute_batch(sql::FORGET_TOUCHED)?;
        connection.execute_batch(sql::NOTE_CHANGES)?;
        self.keys = self.store.derived_keys()?;
        Ok(checking)
    }

    fn derive_groups(&mut self, groups: &[Group]) -> Result<()> {
        let mut groups = groups.iter();
        groups.try_for_each(|group| self.derive_group(*group, Vec::new()))
    }

    fn derive_group(&mut self, group: Group, filled: Vec<Filling>) -> Result<()> {
        if let Some(failure) = derive::derive(self.store.connection, group, filled)?
            && (self.failures.iter()).all(|other| other.path != failure.path)
        {
            self.failures.push(failure);
        }
        Ok(())
    }

    /// Does the deferred work.
    fn flush(&mut self) -> Result<()> {
        self.save_file()?;
        self.flush_calls()?;
        self.flush_responses()?;
        let mut archive = archive::Reader::default();
        let uncounted = std::mem::take(&mut self.deferred.uncounted_lines);
        let lines = std::mem::take(&mut self.deferred.lines);
        for (number, line) in lines.into_iter().enumerate() {
            let counts = (number < uncounted).then(|| self.counts.clone());
            let loaded = self.load_deferred(&line, &mut archive);
            loaded.map_err(|error| self.blame(&line, error))?;
            if let Some(counts) = counts {
                self.counts = counts;
            }
        }
        let mut deferred = std::mem::take(&mut self.deferred);
        calls::settle_touched(&mut self.store, &mut deferred.calls)?;
        deferred.flush(&self.store)?;
        let open_file = self.file.as_ref().map(|file| file.file_id());
        self.file_keys
            .retain(|file_id, _| Some(*file_id) == open_file);
        Ok(())
    }

    /// Indexes tool results for search too.
    pub fn index_tool_output(&mut self) -> Result<()> {
        self.begin()?;
        let connection = self.store.connection;
        if connection.execute(sql::INDEX_TOOL_OUTPUT, [])? > 0 {
            connection.execute_batch(sql::REBUILD_SEARCH_INDEX)?;
        }
        Ok(())
    }

    /// Updates the stat of a file whose bytes are unchanged.
    pub fn stamp_file(&mut self, file_id: i64, stat: &Stat, is_racy: bool) -> Result<()> {
        self.begin()?;
        let stamp = params![
            file_id,
            stat.modified_ns,
            stat.changed_ns,
            stat.device,
            stat.inode,
            is_racy,
        ];
        self.store.execute(sql::STAMP_FILE, stamp).map(drop)
    }

    /// Records that a file is gone.
    pub fn mark_missing(&mut self, file_id: i64) -> Result<()> {
        self.begin()?;
        let missing = params![file_id, timestamp::now()];
        self.store.execute(sql::MARK_MISSING, missing).map(drop)
    }
}

impl Deferred {
    /// Writes the rows of small tables, and the keys whose rows have to be derived again.
    fn flush(&self, store: &Statements<'_>) -> Result<()> {
        for (name, key) in &self.projects {
            if self.new_projects.contains(key) {
                store.execute(sql::INSERT_PROJECT, params![key, name])?;
            }
        }
        for (agent, key) in &self.agents {
            let row = params![
                key,
                agent.session_id,
                agent.agent_id,
                agent.layout,
                agent.workflow_id
            ];
            store.execute(sql::UPSERT_AGENT, row)?;
        }
        for link in &self.links {
            store.insert_link(link)?;
        }
        for model in &self.models {
            store.execute(sql::NAME_MODEL, [model])?;
        }
        for file_id in &self.generations {
            store.execute(sql::RETIRE_FILE_VERSIONS, [file_id])?;
        }
        self.unknown_kinds.flush(store)?;
        for (session_id, values) in &self.sessions {
            let touched = params![
                session_id,
                values.git_branch,
                values.version,
                values.entrypoint,
                values.slug,
                values.guests
            ];
            store.execute(sql::TOUCH_SESSION, touched)?;
        }
        for session_id in &self.known_sessions {
            store.execute(sql::TOUCH_KNOWN_SESSION, [session_id])?;
        }
        for uuid in &self.messages {
            store.execute(sql::TOUCH_SESSION_OF_MESSAGE, [uuid])?;
        }
        for response in &self.responses {
            store.execute(sql::TOUCH_RESPONSE, [response])?;
        }
        for call in &self.calls {
            store.execute(sql::TOUCH_TOOL_USE, [call])?;
        }
        Ok(())
    }
}
