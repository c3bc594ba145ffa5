//! Runs read-only queries: questions, and SQL from the user.

use crate::database;
use crate::error::{Error, Result};
use crate::format::QueryRows;
use crate::sql_error;
use crate::terminal::byte_size;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::Value;
use rusqlite::{Connection, Statement};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Opens a database for untrusted SQL. The authorizer allows only reads: `vacuum into` and `attach` write files even on a
/// read-only connection.
pub fn open(path: &Path, timeout: Duration) -> Result<Connection> {
    open_cancellable(path, timeout, &Cancelled::default())
}

/// Set to end a statement early.
pub type Cancelled = Arc<AtomicBool>;

/// Like [`open`]; statements also end when they are cancelled.
pub fn open_cancellable(
    path: &Path,
    timeout: Duration,
    cancelled: &Cancelled,
) -> Result<Connection> {
    let connection = database::open_read_only(path)?;
    guard(connection, timeout, cancelled)
}

/// Opens a database to read all rows of a statement, however long it takes. SQLite sorts them in a temporary file.
pub fn open_for_export(path: &Path) -> Result<Connection> {
    let connection = database::open_read_only(path)?;
    connection.pragma_update(None, "temp_store", "file")?;
    guard(connection, Duration::MAX, &Cancelled::default())
}

fn guard(
    mut connection: Connection,
    timeout: Duration,
    cancelled: &Cancelled,
) -> Result<Connection> {
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, RESULT_BYTES as i32)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_BYTES)?;
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } if function_name != "load_extension" => {
            Authorization::Allow
        }
        // FTS5 checks whether its index has changed.
        AuthAction::Pragma {
            pragma_name: "data_version",
            pragma_value: None,
        } => Authorization::Allow,
        _ => Authorization::Deny,
    }))?;
    let (begun, cancelled) = (Instant::now(), cancelled.clone());
    let is_over = move || begun.elapsed() > timeout || cancelled.load(Ordering::Relaxed);
    connection.progress_handler(10_000, Some(is_over))?;
    Ok(connection)
}

/// Limit of the memory of all rows, and of each value that SQLite computes.
const RESULT_BYTES: usize = 512 << 20;

/// Limit of LIKE and GLOB patterns: matching can take time proportional to pattern times string.
const PATTERN_BYTES: i32 = 1000;

/// Opens a database and runs a query, and returns soon after the timeout in any case: SQLite calls the progress handler
/// only between virtual machine instructions, and one function call on long strings is a single instruction. Such a call
/// keeps its thread until the program exits.
pub fn run_with_timeout(
    timeout: Duration,
    path: &Path,
    sql: &str,
    parameters: &[(String, String)],
    limit: Option<usize>,
    cancelled: &Cancelled,
) -> Result<(QueryRows, bool)> {
    const GRACE: Duration = Duration::from_millis(500);
    let (sender, receiver) = sync_channel(1);
    let (path, sql, parameters) = (path.to_path_buf(), sql.to_string(), parameters.to_vec());
    let cancelled = cancelled.clone();
    let spawned = std::thread::Builder::new().spawn(move || {
        let result = open_cancellable(&path, timeout, &cancelled)
            .and_then(|connection| run(&connection, &sql, &parameters, limit));
        // After the timeout the receiver is gone.
        let _ = sender.send(result);
    });
    spawned.map_err(Error::io("a thread for the query"))?;
    match receiver.recv_timeout(timeout.saturating_add(GRACE)) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(too_long()),
        Err(RecvTimeoutError::Disconnected) => panic!("the query panicked"),
    }
}

/// Runs one statement. Returns at most `limit` rows, and whether there are more.
pub fn run(
    connection: &Connection,
    sql: &str,
    parameters: &[(String, String)],
    limit: Option<usize>,
) -> Result<(QueryRows, bool)> {
    let mut statement = prepare(connection, sql, parameters)?;
    let mut result = QueryRows {
        columns: columns(&statement),
        rows: Vec::new(),
    };
    let mut bytes = 0;
    let has_more = each(connection, &mut statement, sql, |values| {
        if limit.is_some_and(|limit| result.rows.len() >= limit) {
            return Ok(ControlFlow::Break(()));
        }
        bytes += values.iter().map(memory).sum::<usize>();
        if bytes > RESULT_BYTES {
            return Err(Error::Usage(format!(
                "the result is larger than {}; limit it with --limit N, or write it to a file with cc-etl export",
                byte_size(RESULT_BYTES as u64)
            )));
        }
        result.rows.push(values);
        Ok(ControlFlow::Continue(()))
    })?
    .is_break();
    Ok((result, has_more))
}

/// Prepares one statement and binds its parameters.
pub fn prepare<'c>(
    connection: &'c Connection,
    sql: &str,
    parameters: &[(String, String)],
) -> Result<Statement<'c>> {
    let mut statement = parse(connection, sql)?;
    bind(&mut statement, parameters)?;
    Ok(statement)
}

pub fn columns(statement: &Statement<'_>) -> Vec<String> {
    statement.column_names().map(str::to_string).collect()
}

/// Calls a function with each row, until it breaks.
pub fn each(
    connection: &Connection,
    statement: &mut Statement<'_>,
    sql: &str,
    mut take: impl FnMut(Vec<Value>) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    let count = statement.column_count();
    let mut rows = statement.raw_query();
    while let Some(row) = rows
        .next()
        .map_err(|error| explain(connection, sql, &error))?
    {
        let values: rusqlite::Result<Vec<Value>> =
            (0..count).map(|column| row.get(column)).collect();
        if take(values?)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn memory(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Text(text) => text.len(),
            Value::Blob(bytes) => bytes.len(),
            _ => 0,
        }
}

fn parse<'c>(connection: &'c Connection, sql: &str) -> Result<Statement<'c>> {
    let statement = connection.prepare(sql).map_err(|error| match error {
        rusqlite::Error::MultipleStatement => {
            Error::Usage("only one statement can be run".to_string())
        }
        other => explain(connection, sql, &other),
    })?;
    match statement.column_count() {
        0 => Err(Error::Usage(
            "there is no statement to run; give one like 'select * from daily_costs', or list the questions with cc-etl query"
                .to_string(),
        )),
        _ => Ok(statement),
    }
}

fn bind(statement: &mut Statement<'_>, parameters: &[(String, String)]) -> Result<()> {
    for (name, value) in parameters {
        let place = [":", "@", "$"].iter().find_map(|mark| {
            statement
                .parameter_index(&format!("{mark}{name}"))
                .ok()
                .flatten()
        });
        match place {
            // Text never equals a number in a strict table, so numbers are bound as numbers.
            Some(place) => match value.parse::<i64>() {
                Ok(number) => statement.raw_bind_parameter(place, number)?,
                Err(_) => statement.raw_bind_parameter(place, value)?,
            },
            None => {
                return Err(Error::Usage(format!(
                    "the statement has no parameter :{name}"
                )));
            }
        }
    }
    Ok(())
}

fn too_long() -> Error {
    Error::Usage("the query timed out; allow more time with --timeout SECONDS".to_string())
}

fn explain(connection: &Connection, sql: &str, error: &rusqlite::Error) -> Error {
    use rusqlite::Error::{SqlInputError, SqliteFailure};
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::OperationInterrupted) => return too_long(),
        Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) => {
            return Error::Usage(
                "only reading is allowed: this statement writes, attaches or changes settings"
                    .to_string(),
            );
        }
        _ => {}
    }
    Error::Usage(match error {
        SqlInputError { msg, offset, .. } => {
            sql_error::explain(connection, sql, msg, usize::try_from(*offset).ok())
        }
        SqliteFailure(_, Some(message)) => sql_error::explain(connection, sql, message, None),
        other => other.to_string(),
    })
}
