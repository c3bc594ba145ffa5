//! Tool calls that several messages contain.
//!
//! A fork that assigns new uuids repeats calls with their ids. A call is one row of `tool_uses` and belongs to the message
//! outside a sidechain, then the earliest, then the smallest uuid. The other blocks keep the call as JSON.

use crate::database::statements as sql;
use crate::error::Result;
use crate::normalize::{call_from_json, call_to_json};
use crate::rows::{Insert as _, ToolUse};
use crate::store::Statements;
use rusqlite::OptionalExtension;

/// The calls in a message: its own and those it repeats.
pub fn of_message(store: &Statements<'_>, message_id: i64) -> Result<Vec<String>> {
    let mut statement = store
        .connection
        .prepare_cached(sql::FIND_TOOL_USES_OF_MESSAGE)?;
    let calls = statement.query_map([message_id], |row| row.get(0))?;
    Ok(calls.collect::<rusqlite::Result<_>>()?)
}

/// Adds a block with a call that another message contains.
pub fn add_copy(
    store: &mut Statements<'_>,
    call: &ToolUse<'_>,
    block_extra: Option<&str>,
) -> Result<()> {
    let json = call_to_json(
        &call.tool_use_id,
        call.name.as_deref(),
        call.input_json.as_deref(),
        block_extra,
    );
    store.execute(sql::UPDATE_BLOCK_EXTRA, (call.block_id, json))?;
    store.execute(
        sql::INSERT_TOOL_USE_COPY,
        (call.block_id, &call.tool_use_id),
    )?;
    settle(store, &call.tool_use_id)
}

/// Assigns a call to a message, after a change of the messages that contain it.
pub fn settle(store: &mut Statements<'_>, tool_use_id: &str) -> Result<()> {
    let owner: Option<i64> = store
        .connection
        .prepare_cached(sql::FIND_TOOL_USE_BLOCK)?
        .query_row([tool_use_id], |row| row.get(0))
        .optional()?;
    let rightful: Option<(i64, i64, Option<String>)> = store
        .connection
        .prepare_cached(sql::FIND_RIGHTFUL_BLOCK)?
        .query_row([tool_use_id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((block_id, message_id, json)) = rightful else {
        store.execute(sql::FORGET_TOOL_USE, [tool_use_id])?;
        return Ok(());
    };
    if owner == Some(block_id) {
        return Ok(());
    }
    for block in owner.into_iter().chain([block_id]) {
        store.execute(sql::UNINDEX_BLOCK, [block])?;
    }
    if let Some(owner) = owner {
        let (name, input, extra): (Option<String>, Option<String>, Option<String>) = store
            .connection
            .prepare_cached(sql::FIND_TOOL_USE)?
            .query_row([tool_use_id], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        let json = call_to_json(
            tool_use_id,
            name.as_deref(),
            input.as_deref(),
            extra.as_deref(),
        );
        store.execute(sql::UPDATE_BLOCK_EXTRA, (owner, json))?;
        store.execute(sql::DELETE_TOOL_USE, [tool_use_id])?;
        store.execute(sql::INSERT_TOOL_USE_COPY, (owner, tool_use_id))?;
    }
    let (mut call, extra) = call_from_json(json.as_deref().unwrap_or_default(), tool_use_id);
    call.message_id = message_id;
    call.block_id = block_id;
    store.insert(&call)?;
    store.execute(sql::UPDATE_BLOCK_EXTRA, (block_id, extra))?;
    store.execute(sql::DELETE_TOOL_USE_COPY, [block_id])?;
    for block in owner.into_iter().chain([block_id]) {
        store.execute(sql::INDEX_BLOCK, [block])?;
    }
    Ok(())
}
