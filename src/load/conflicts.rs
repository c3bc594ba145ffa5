//! Loads deferred lines, whose uuid or one of whose calls was already loaded. The rules are in `copies.rs` and
//! `shared_calls.rs`; this module applies them.

use super::calls::WaitingCalls;
use super::deferred::DeferredLine;
use super::{Buffers, Loader, copies, shared_calls};
use crate::archive;
use crate::database::statements as sql;
use crate::error::Result;
use crate::rows::{Insert as _, MessageRows, ToolUse};
use crate::store::{Id, Statements, Store as _};

impl Loader<Statements<'_>> {
    /// Loads a deferred line. All lines before it must be in the database.
    pub(super) fn load_deferred(
        &mut self,
        line: &DeferredLine,
        archive: &mut archive::Reader,
    ) -> Result<()> {
        let mut rows = line.read(self.store.connection, archive)?;
        self.set_keys(&mut rows, &WaitingCalls::default())?;
        match self.store.find(Id::Message(&rows.message.uuid))? {
            Some(message_id) => {
                rows.message.message_id = message_id;
                self.add_copy(rows, archive)
            }
            None => {
                let mut buffers = Buffers::default();
                self.add_message(&mut rows, &mut buffers)?;
                self.buffers = buffers;
                self.flush_responses()?;
                self.add_contents(*rows)
            }
        }
    }

    /// Adds another line of a message, which may replace it.
    fn add_copy(
        &mut self,
        mut rows: Box<MessageRows<'static>>,
        archive: &mut archive::Reader,
    ) -> Result<()> {
        self.counts.copies += 1;
        let connection = self.store.connection;
        let session_id = rows.message.session_id.clone();
        self.deferred
            .link(std::mem::take(&mut rows.links), session_id.as_deref());
        if let Some(usage) = &mut rows.usage {
            let mut buffers = Buffers::default();
            self.add_usage_of_message(usage, &mut rows.message, &mut buffers.responses)?;
            self.buffers = buffers;
            self.flush_responses()?;
            // Usage is judged with the version of the message, no matter which line that will be.
            let response = self.store.find(Id::Response(&usage.response_name()))?;
            self.deferred.responses.extend(response);
        }
        let current = copies::Line::of_message(connection, rows.message.message_id)?;
        let new = copies::Line::of_rows(connection, &rows.message)?;
        let election = copies::elect(connection, archive, current, new)?;
        for copy in &election.copies {
            self.deferred.touch_session(copy.session_id.as_deref());
            self.store.insert(copy)?;
        }
        match election.winner {
            copies::Winner::Unchanged => Ok(()),
            copies::Winner::New => self.replace_message(*rows),
            copies::Winner::Archived(mut rows) => {
                self.set_keys(&mut rows, &WaitingCalls::default())?;
                if rows
                    .usage
                    .take()
                    .is_some_and(|usage| !usage.line.is_progress)
                {
                    let line = (rows.message.file_id, rows.message.byte_offset);
                    let mut find = connection.prepare_cached(sql::FIND_RESPONSE_OF_LINE)?;
                    rows.message.api_response_id = find.query_row(line, |row| row.get(0))?;
                }
                self.replace_message(*rows)
            }
        }
    }

    /// Replaces the line that was the message.
    fn replace_message(&mut self, mut rows: MessageRows<'static>) -> Result<()> {
        let message_id = rows.message.message_id;
        self.deferred.touch_session_by(&rows.message, None);
        let calls = shared_calls::of_message(&self.store, message_id)?;
        let mut results = self
            .store
            .connection
            .prepare_cached(sql::FIND_RESULTS_OF_MESSAGE)?;
        let settled = results.query_map([message_id], |row| row.get(0))?;
        self.deferred
            .calls
            .extend(settled.collect::<rusqlite::Result<Vec<String>>>()?);
        for statement in [
            sql::TOUCH_RESPONSES_OF_MESSAGE,
            sql::UNINDEX_MESSAGE,
            sql::DELETE_NOTIFICATIONS_OF_MESSAGE,
            sql::DELETE_GIT_OPERATIONS_OF_MESSAGE,
            sql::DELETE_WEB_REQUESTS_OF_MESSAGE,
            sql::DELETE_TOOL_RESULTS_OF_MESSAGE,
            sql::DELETE_TOOL_USE_COPIES_OF_MESSAGE,
            sql::DELETE_FILE_CHANGES_OF_MESSAGE,
            sql::DELETE_TOOL_USES_OF_MESSAGE,
            sql::DELETE_BLOCKS_OF_MESSAGE,
        ] {
            self.store.execute(statement, [message_id])?;
        }
        self.store.replace(&rows.message)?;
        // Its links were added when it arrived.
        rows.links.clear();
        self.add_notices(&mut rows)?;
        self.add_contents(rows)?;
        for tool_use_id in calls {
            shared_calls::settle(&mut self.store, &tool_use_id)?;
            self.deferred.touch_call(&tool_use_id);
        }
        Ok(())
    }

    /// Adds the contents of a message. Its calls may belong to other messages.
    fn add_contents(&mut self, mut rows: MessageRows<'static>) -> Result<()> {
        let mut buffers = Buffers::default();
        for block in &mut rows.blocks {
            let extra_json = block.block.extra_json.clone();
            self.insert_block(block, &rows.message)?;
            if let Some(call) = block.tool_use.take() {
                self.add_shared_call(*call, extra_json.as_deref())?;
            }
            self.add_result(block, &rows.message, &mut buffers.calls)?;
        }
        Ok(())
    }

    fn add_shared_call(&mut self, call: ToolUse<'static>, block_extra: Option<&str>) -> Result<()> {
        self.deferred.touch_call(&call.tool_use_id);
        match self.store.find(Id::Call(&call.tool_use_id))? {
            Some(_) => shared_calls::add_copy(&mut self.store, &call, block_extra),
            None => self.store.insert(&call),
        }
    }
}
