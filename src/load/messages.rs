//! Loads messages: keys of the rows they refer to, usage, blocks with calls and results.

use super::calls::WaitingCalls;
use super::{Buffers, Loader};
use crate::error::Result;
use crate::rows::{BlockRows, Message, MessageRows, Text};
use crate::store::{Id, Store};

impl<S: Store> Loader<S> {
    /// Loads a message if it is new, else defers its line.
    pub(super) fn load_message<'a>(
        &mut self,
        rows: &mut MessageRows<'a>,
        buffers: &mut Buffers<'a>,
    ) -> Result<()> {
        let host = self.file.as_ref().and_then(|file| file.host());
        self.deferred.touch_session_by(&rows.message, host);
        if self.has_known_ids(rows, buffers)? {
            self.deferred.defer(&rows.message);
            return Ok(());
        }
        self.set_keys(rows, &buffers.calls)?;
        self.add_message(rows, buffers)?;
        for block in &mut rows.blocks {
            self.add_block(block, &rows.message, buffers)?;
        }
        Ok(())
    }

    /// Whether the uuid of a message or one of its calls is already loaded.
    fn has_known_ids(&mut self, rows: &MessageRows<'_>, buffers: &Buffers<'_>) -> Result<bool> {
        let mut calls = Vec::new();
        for call in rows.blocks.iter().filter_map(|rows| rows.tool_use.as_ref()) {
            let id = &*call.tool_use_id;
            if calls.contains(&id)
                || buffers.calls.contains(id)
                || self.store.find(Id::Call(id))?.is_some()
            {
                return Ok(true);
            }
            calls.push(id);
        }
        Ok(self.store.find(Id::Message(&rows.message.uuid))?.is_some())
    }

    /// Sets the keys of a message's agent, and of its parents and its call if they are loaded.
    pub(super) fn set_keys(
        &mut self,
        rows: &mut MessageRows<'_>,
        calls: &WaitingCalls<'_>,
    ) -> Result<()> {
        let message = &mut rows.message;
        if let Some(call) = &message.source_tool_use_id {
            let is_known = calls.contains(call) || self.store.find(Id::Call(call))?.is_some();
            message.tool_use_id = is_known.then(|| call.clone());
        }
        message.parent_message_id = self.message_key(message.parent_uuid.as_deref())?;
        message.logical_parent_message_id =
            self.message_key(message.logical_parent_uuid.as_deref())?;
        if let Some(agent) = &rows.agent {
            message.agent_run_id = Some(self.agent_run_id(agent)?);
        }
        if let Some(usage) = &mut rows.usage {
            usage.line.agent_run_id = match &usage.agent {
                Some(agent) => Some(self.agent_run_id(agent)?),
                None => message.agent_run_id,
            };
        }
        Ok(())
    }

    fn message_key(&mut self, uuid: Option<&str>) -> Result<Option<i64>> {
        uuid.map_or(Ok(None), |uuid| self.store.find(Id::Message(uuid)))
    }

    /// Inserts a new message with its usage, and records its evidence about agents.
    pub(super) fn add_message<'a>(
        &mut self,
        rows: &mut MessageRows<'a>,
        buffers: &mut Buffers<'a>,
    ) -> Result<()> {
        self.keys.message += 1;
        self.counts.messages += 1;
        let message = &mut rows.message;
        message.message_id = self.keys.message;
        self.store
            .remember(Id::Message(&message.uuid), message.message_id);
        if let Some(usage) = &mut rows.usage {
            self.add_usage_of_message(usage, message, &mut buffers.responses)?;
        }
        self.insert_message(message)?;
        self.add_notices(rows)
    }

    /// Inserts a message. Frees the strings of a long one early.
    fn insert_message(&mut self, message: &mut Message<'_>) -> Result<()> {
        const LONG: usize = 1 << 20;
        let is_long = |text: &Option<Text<'_>>| text.as_ref().is_some_and(|text| text.len() > LONG);
        if !is_long(&message.extra_json) && !is_long(&message.user_feedback) {
            return self.store.insert(message);
        }
        let (extra_json, user_feedback) = (message.extra_json.take(), message.user_feedback.take());
        self.store.insert_last(&mut Message {
            extra_json,
            user_feedback,
            ..message.clone()
        })
    }

    /// Adds a message's links between agents and calls, and its notifications.
    pub(super) fn add_notices(&mut self, rows: &mut MessageRows<'_>) -> Result<()> {
        let message = &rows.message;
        self.deferred.link(
            std::mem::take(&mut rows.links),
            message.session_id.as_deref(),
        );
        for notification in &mut rows.notifications {
            notification.set_message(message);
            self.store.insert(notification)?;
        }
        Ok(())
    }

    /// Inserts a block with its result. Buffers its call until the result of the call arrives.
    fn add_block<'a>(
        &mut self,
        rows: &mut BlockRows<'a>,
        message: &Message<'a>,
        buffers: &mut Buffers<'a>,
    ) -> Result<()> {
        self.insert_block(rows, message)?;
        if let Some(call) = rows.tool_use.take() {
            self.add_call(call, message, &mut buffers.calls)?;
        }
        self.add_result(rows, message, &mut buffers.calls)
    }

    /// Inserts a block, and sets its key in its call and its result.
    pub(super) fn insert_block(
        &mut self,
        rows: &mut BlockRows<'_>,
        message: &Message<'_>,
    ) -> Result<()> {
        self.keys.block += 1;
        rows.block.block_id = self.keys.block;
        rows.block.message_id = message.message_id;
        if let Some(call) = &mut rows.tool_use {
            call.message_id = message.message_id;
            call.block_id = self.keys.block;
        }
        if let Some(result) = &mut rows.tool_result {
            result.message_id = message.message_id;
            result.block_id = self.keys.block;
        }
        self.store.insert_last(&mut rows.block)
    }
}
