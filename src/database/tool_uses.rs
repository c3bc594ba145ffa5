//! Tool calls that stand in more than one message.
//!
//! A fork that gives new uuids repeats the calls with their ids. A call is one row of `tool_uses`; it belongs to the
//! message outside a sidechain, then the earliest, then the smallest uuid. The other blocks keep the call as JSON.

use super::insert::Inserter;
use super::statements as sql;
use crate::error::Result;
use crate::normalize::{call_from_json, call_to_json};
use crate::rows::ToolUse;
use rusqlite::{Connection, OptionalExtension};

/// The calls that a message holds, its own and those it repeats.
pub fn of_message(connection: &Connection, message_id: i64) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(sql::FIND_TOOL_USES_OF_MESSAGE)?;
    let calls = statement.query_map([message_id], |row| row.get(0))?;
    Ok(calls.collect::<rusqlite::Result<_>>()?)
}

/// Adds a block with a call that another message has already.
pub fn add_copy(
    connection: &Connection,
    inserter: &Inserter<'_>,
    call: &ToolUse<'_>,
    block_extra: Option<&str>,
) -> Result<()> {
    let json = call_to_json(
        &call.tool_use_id,
        call.name.as_deref(),
        call.input_json.as_deref(),
        block_extra,
    );
    connection
        .prepare_cached(sql::UPDATE_BLOCK_EXTRA)?
        .execute((call.block_id, json))?;
    connection
        .prepare_cached(sql::INSERT_TOOL_USE_COPY)?
        .execute((call.block_id, &call.tool_use_id))?;
    settle(connection, inserter, &call.tool_use_id)
}

/// Gives a call to the message it belongs to, after messages that hold it have changed.
pub fn settle(connection: &Connection, inserter: &Inserter<'_>, tool_use_id: &str) -> Result<()> {
    let owner: Option<i64> = connection
        .prepare_cached(sql::FIND_TOOL_USE_BLOCK)?
        .query_row([tool_use_id], |row| row.get(0))
        .optional()?;
    let rightful: Option<(i64, i64, Option<String>)> = connection
        .prepare_cached(sql::FIND_RIGHTFUL_BLOCK)?
        .query_row([tool_use_id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((block_id, message_id, json)) = rightful else {
        connection
            .prepare_cached(sql::FORGET_TOOL_USE)?
            .execute([tool_use_id])?;
        return Ok(());
    };
    if owner == Some(block_id) {
        return Ok(());
    }
    for block in owner.into_iter().chain([block_id]) {
        connection
            .prepare_cached(sql::UNINDEX_BLOCK)?
            .execute([block])?;
    }
    if let Some(owner) = owner {
        let (name, input, extra): (Option<String>, Option<String>, Option<String>) = connection
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
        connection
            .prepare_cached(sql::UPDATE_BLOCK_EXTRA)?
            .execute((owner, json))?;
        connection
            .prepare_cached(sql::DELETE_TOOL_USE)?
            .execute([tool_use_id])?;
        connection
            .prepare_cached(sql::INSERT_TOOL_USE_COPY)?
            .execute((owner, tool_use_id))?;
    }
    let (mut call, extra) = call_from_json(json.as_deref().unwrap_or_default(), tool_use_id);
    call.message_id = message_id;
    call.block_id = block_id;
    inserter.insert(&call)?;
    connection
        .prepare_cached(sql::UPDATE_BLOCK_EXTRA)?
        .execute((block_id, extra))?;
    connection
        .prepare_cached(sql::DELETE_TOOL_USE_COPY)?
        .execute([block_id])?;
    for block in owner.into_iter().chain([block_id]) {
        connection
            .prepare_cached(sql::INDEX_BLOCK)?
            .execute([block])?;
    }
    Ok(())
}
