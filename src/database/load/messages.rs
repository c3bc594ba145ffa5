//! A message -> its rows: the keys of what it names, its usage, its blocks with calls and answers.

use super::{Loader, OpenCall, is_long};
use crate::database::copies::FileKey;
use crate::database::create::create_index;
use crate::database::responses::NewResponse;
use crate::database::{copies, statements as sql, tool_uses};
use crate::error::Result;
use crate::rows::{Agent, BlockRows, Message, MessageRows, ToolResult, ToolUse, Usage};
use crate::timestamp;
use rusqlite::{OptionalExtension, params};

impl Loader<'_> {
    pub(in crate::database) fn write_message(
        &mut self,
        mut rows: Box<MessageRows<'_>>,
    ) -> Result<()> {
        self.settle_keys(&mut rows)?;
        self.write_links(&rows.links, rows.message.session_id.as_deref())?;
        if let Some(message_id) = self.message_id(Some(&rows.message.uuid))? {
            self.counts.copies += 1;
            rows.message.message_id = message_id;
            return self.write_copy(rows);
        }
        self.last_message_id += 1;
        self.counts.messages += 1;
        rows.message.message_id = self.last_message_id;
        self.insert_message(&mut rows.message)?;
        self.known_messages
            .insert(&rows.message.uuid, self.last_message_id);
        self.write_usage(rows.usage.take(), &rows.message, false)?;
        self.write_content(*rows)
    }

    /// The key of the message with a uuid, if it is there.
    pub(super) fn message_id(&mut self, uuid: Option<&str>) -> Result<Option<i64>> {
        let Some(uuid) = uuid else {
            return Ok(None);
        };
        if self.known_messages.is_full() {
            create_index(self.connection, "messages_by_uuid")?;
            self.known_messages.clear();
            self.are_all_known = false;
        }
        match self.known_messages.get(uuid) {
            None if !self.are_all_known => {
                let mut find = self.connection.prepare_cached(sql::FIND_MESSAGE_BY_UUID)?;
                Ok(find.query_row([uuid], |row| row.get(0)).optional()?)
            }
            known => Ok(known),
        }
    }

    /// Inserts a message that is new. A long one keeps no text of its own that is written.
    fn insert_message(&self, message: &mut Message<'_>) -> Result<()> {
        let texts = [&message.extra_json, &message.user_feedback];
        if !texts.into_iter().any(|text| is_long(text.as_deref())) {
            self.inserter.insert(message)?;
            return Ok(());
        }
        let (extra_json, user_feedback) = (message.extra_json.take(), message.user_feedback.take());
        self.inserter.insert_last(Message {
            extra_json,
            user_feedback,
            ..message.clone()
        })?;
        Ok(())
    }

    /// Inserts a call if it is new, else gives it back.
    fn insert_tool_use<'a>(
        &mut self,
        tool_use: Box<ToolUse<'a>>,
        sent_at: Option<&str>,
    ) -> Result<Option<Box<ToolUse<'a>>>> {
        let mut find = self.connection.prepare_cached(sql::FIND_TOOL_USE_BLOCK)?;
        if is_long(tool_use.input_json.as_deref()) && !find.exists([&tool_use.tool_use_id])? {
            self.note_call(&tool_use, sent_at)?;
            self.inserter.insert_last(*tool_use)?;
            return Ok(None);
        }
        if self.inserter.insert(&*tool_use)? == 0 {
            self.touch_tool_use(&tool_use.tool_use_id);
            return Ok(Some(tool_use));
        }
        self.note_call(&tool_use, sent_at)?;
        Ok(None)
    }

    /// Sets the keys of what a message names and is there: its parents, its agent and its response. What is not there yet
    /// is resolved at the commit, and so is its session.
    fn settle_keys(&mut self, rows: &mut MessageRows<'_>) -> Result<()> {
        let message = &mut rows.message;
        message.parent_message_id = self.message_id(message.parent_uuid.as_deref())?;
        message.logical_parent_message_id =
            self.message_id(message.logical_parent_uuid.as_deref())?;
        if let Some(agent) = rows.agent.take() {
            rows.message.agent_key = Some(self.agent_key(agent)?);
        }
        self.touch_session(rows.message.session_id.as_deref());
        if let Some(usage) = &mut rows.usage {
            usage.line.agent_key = match usage.agent.take() {
                Some(agent) => Some(self.agent_key(agent)?),
                None => rows.message.agent_key,
            };
            let response_id = self.response_id(&usage.api_message_id)?;
            usage.line.api_response_id = response_id;
            if !usage.line.is_progress {
                rows.message.api_response_id = Some(response_id);
            }
        }
        Ok(())
    }

    pub(in crate::database) fn agent_key(&mut self, agent: Agent<'_>) -> Result<i64> {
        if let Some(key) = self.agents.get(&agent) {
            return Ok(*key);
        }
        let key = self
            .connection
            .prepare_cached(sql::UPSERT_AGENT)?
            .query_row(
                params![
                    agent.session_id,
                    agent.agent_id,
                    agent.layout,
                    agent.workflow_run_id
                ],
                |row| row.get(0),
            )?;
        self.touch_session(Some(&agent.session_id));
        self.agents.insert(agent.into_owned(), key);
        Ok(key)
    }

    /// The key of a response; a new one is written later, with its lines.
    fn response_id(&mut self, api_message_id: &str) -> Result<i64> {
        if let Some(id) = self.responses.get(api_message_id) {
            return Ok(*id);
        }
        // The lines of a response stand close together: a short memory is enough.
        if self.responses.len() >= 4096 {
            self.write_responses()?;
            self.responses.clear();
        }
        let mut find = self.connection.prepare_cached(sql::FIND_RESPONSE)?;
        let known = find.query_row([api_message_id], |row| row.get(0));
        let id = match known.optional()? {
            Some(id) => id,
            None => {
                self.last_response_id += 1;
                let response = NewResponse::new(api_message_id.to_string().into());
                self.new_responses.insert(self.last_response_id, response);
                self.last_response_id
            }
        };
        self.responses.insert(api_message_id.to_string(), id);
        Ok(id)
    }

    /// Writes the responses that are new, each with the lines it has by now.
    pub(super) fn write_responses(&mut self) -> Result<()> {
        for (id, response) in std::mem::take(&mut self.new_responses) {
            let file_key = |file_id| FileKey::find(self.connection, file_id);
            if response.write(id, file_key, &mut &self.inserter)? {
                self.touched_responses.insert(id);
            }
        }
        Ok(())
    }

    /// Writes the usage of a line: with its response if that is new and the line is the message itself. What a further
    /// line of a message comes to depends on what is in the database.
    fn write_usage(
        &mut self,
        usage: Option<Usage<'_>>,
        message: &Message<'_>,
        is_copy: bool,
    ) -> Result<()> {
        let Some(Usage { mut line, .. }) = usage else {
            return Ok(());
        };
        line.of(message);
        if let Some(model) = &line.model {
            self.name_model(model)?;
        }
        if is_copy {
            self.write_responses()?;
        }
        match self.new_responses.get_mut(&line.api_response_id) {
            Some(response) => response.add(line.into_owned(), message.version.as_deref()),
            None => {
                self.touched_responses.insert(line.api_response_id);
                self.inserter.insert_last(line)?;
            }
        }
        Ok(())
    }

    /// Has a name for the prices of a model.
    pub(in crate::database) fn name_model(&mut self, model: &str) -> Result<()> {
        if !self.named_models.contains(model) {
            self.connection
                .prepare_cached(sql::NAME_MODEL)?
                .execute([model])?;
            self.named_models.insert(model.to_string());
        }
        Ok(())
    }

    /// Writes what a message says: its blocks with calls and results, and the notifications it delivers.
    fn write_content(&mut self, rows: MessageRows<'_>) -> Result<()> {
        let message = &rows.message;
        for mut notification in rows.notifications {
            notification.deliver(message);
            self.inserter.insert(&notification)?;
        }
        for rows in rows.blocks {
            self.write_block(rows, message)?;
        }
        Ok(())
    }

    fn write_block(&mut self, rows: BlockRows<'_>, message: &Message<'_>) -> Result<()> {
        let message_id = message.message_id;
        let sent_at = message.sent_at.as_deref();
        let mut block = rows.block;
        self.last_block_id += 1;
        block.block_id = self.last_block_id;
        block.message_id = message_id;
        let block_id = block.block_id;
        let extra_json = match &rows.tool_use {
            Some(_) => block.extra_json.clone(),
            None => None,
        };
        self.inserter.insert_last(block)?;
        if let Some(mut tool_use) = rows.tool_use {
            tool_use.message_id = message_id;
            tool_use.block_id = block_id;
            if let Some(copy) = self.insert_tool_use(tool_use, sent_at)? {
                tool_uses::add_copy(
                    self.connection,
                    &self.inserter,
                    &copy,
                    extra_json.as_deref(),
                )?;
            }
        }
        if let Some(mut result) = rows.tool_result {
            self.last_result_id += 1;
            result.tool_result_id = self.last_result_id;
            result.message_id = message_id;
            result.block_id = block_id;
            self.settle_answer(&mut result, sent_at)?;
            self.inserter.insert_last(*result)?;
            for mut operation in rows.git_operations {
                operation.tool_result_id = self.last_result_id;
                self.inserter.insert(&operation)?;
            }
            if let Some(mut request) = rows.web_request {
                request.tool_result_id = self.last_result_id;
                self.inserter.insert(&*request)?;
            }
        }
        Ok(())
    }

    /// Looks at a call and all its answers again at the commit.
    fn touch_tool_use(&mut self, tool_use_id: &str) {
        self.open_calls.remove(tool_use_id);
        self.touched_tool_uses.insert(tool_use_id.to_string());
    }

    /// Remembers a new call, of which most get their one answer at once. The others are left to the commit.
    fn note_call(&mut self, call: &ToolUse<'_>, sent_at: Option<&str>) -> Result<()> {
        let mut orphan = self.connection.prepare_cached(sql::FIND_ORPHANED_RESULT)?;
        match sent_at.and_then(timestamp::to_milliseconds) {
            Some(time) if call.is_plain() && !orphan.exists([&call.tool_use_id])? => {
                // An answer mostly follows its call at once: a short memory is enough.
                if self.open_calls.len() >= 4096 {
                    self.open_calls.clear();
                }
                let open = OpenCall {
                    time,
                    is_change: call.change_kind.is_some(),
                };
                self.open_calls.insert(call.tool_use_id.to_string(), open);
            }
            _ => self.touch_tool_use(&call.tool_use_id),
        }
        Ok(())
    }

    /// Ties an answer to its call. The rule is in sql/derive/25: this is what it comes to for the first answer to a call
    /// that is remembered, and with it neither needs to be looked at again.
    fn settle_answer(&mut self, result: &mut ToolResult<'_>, sent_at: Option<&str>) -> Result<()> {
        let Some(tool_use_id) = &result.source_tool_use_id else {
            return Ok(());
        };
        let answered = sent_at.and_then(timestamp::to_milliseconds);
        if let (Some(call), Some(answered)) = (self.open_calls.remove(&**tool_use_id), answered) {
            result.tool_use_id = Some(tool_use_id.clone());
            result.elapsed_ms = Some(answered - call.time);
            if call.is_change {
                self.touched_changes.insert(tool_use_id.to_string());
            }
            self.connection
                .prepare_cached(sql::ANSWER_TOOL_USE)?
                .execute(params![tool_use_id, result.tool_result_id])?;
            return Ok(());
        }
        let mut find = self.connection.prepare_cached(sql::FIND_TOOL_USE_BLOCK)?;
        if find.exists([tool_use_id])? {
            result.tool_use_id = Some(tool_use_id.clone());
        }
        self.touched_tool_uses.insert(tool_use_id.to_string());
        Ok(())
    }

    fn write_copy(&mut self, mut rows: Box<MessageRows<'_>>) -> Result<()> {
        let current = copies::Line::of_message(self.connection, rows.message.message_id)?;
        self.write_usage(rows.usage.take(), &rows.message, true)?;
        let new = copies::Line::of_rows(self.connection, &rows.message)?;
        let election = copies::elect(self.connection, &mut self.archive, current, new)?;
        for copy in &election.copies {
            self.touch_session(copy.session_id.as_deref());
            self.inserter.insert(copy)?;
        }
        match election.winner {
            copies::Winner::Unchanged => Ok(()),
            copies::Winner::New => self.replace_message(*rows),
            copies::Winner::Archived(mut rows) => {
                self.settle_keys(&mut rows)?;
                self.replace_message(*rows)
            }
        }
    }

    /// Puts another line in the place of the one that was the message until now.
    fn replace_message(&mut self, rows: MessageRows<'_>) -> Result<()> {
        let message_id = rows.message.message_id;
        self.write_responses()?;
        let calls = tool_uses::of_message(self.connection, message_id)?;
        let mut results = self
            .connection
            .prepare_cached(sql::FIND_RESULTS_OF_MESSAGE)?;
        let answered = results
            .query_map([message_id], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<String>>>()?;
        for tool_use_id in answered {
            self.touch_tool_use(&tool_use_id);
        }
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
            self.connection
                .prepare_cached(statement)?
                .execute([message_id])?;
        }
        self.inserter.replace(&rows.message)?;
        self.write_content(rows)?;
        for tool_use_id in calls {
            tool_uses::settle(self.connection, &self.inserter, &tool_use_id)?;
            self.touch_tool_use(&tool_use_id);
        }
        Ok(())
    }
}
