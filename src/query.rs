//! Questions to the database: the files under queries/, and SQL that the user gives. All of it only reads.

use crate::database;
use crate::error::{Error, Result};
use crate::format::Answer;
use crate::terminal::byte_size;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::Value;
use rusqlite::{Connection, Statement};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// A question that ships with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The name of its file.
    pub name: &'static str,
    /// What it asks.
    pub title: &'static str,
    /// How to read the answer.
    pub how_to_read: &'static str,
    /// Its parameters: name and meaning.
    pub parameters: Vec<(&'static str, &'static str)>,
    /// The column that is shown as a bar too.
    pub bar: Option<&'static str>,
    /// The statement, with its head.
    pub sql: &'static str,
}

/// All questions, by name.
pub fn questions() -> Vec<Question> {
    database::QUERIES
        .iter()
        .map(|(file, sql)| parse(file, sql))
        .collect()
}

/// The question of a name.
pub fn find(name: &str) -> Option<Question> {
    questions()
        .into_iter()
        .find(|question| question.name == name)
}

/// Reads the head of a question: a title, how to read the answer, and the parameters.
fn parse(file: &'static str, sql: &'static str) -> Question {
    let mut question = Question {
        name: file.trim_end_matches(".sql"),
        title: "",
        how_to_read: "",
        parameters: Vec::new(),
        bar: None,
        sql,
    };
    for line in sql.lines().map_while(|line| line.strip_prefix("-- ")) {
        if let Some(text) = line.strip_prefix("How to read: ") {
            question.how_to_read = text;
        } else if let Some(column) = line.strip_prefix("Bar: ") {
            question.bar = Some(column);
        } else if let Some((name, meaning)) = line
            .strip_prefix(':')
            .and_then(|rest| rest.split_once(" - "))
        {
            question.parameters.push((name, meaning));
        } else if question.title.is_empty() {
            question.title = line;
        }
    }
    question
}

/// Opens a database so that SQL can do nothing but read it: a connection that only reads still lets `vacuum into` and
/// `attach` write files.
pub fn open(path: &Path, timeout: Duration) -> Result<Connection> {
    let mut connection = database::open_read_only(path)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, ANSWER_BYTES as i32)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_BYTES)?;
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } if function_name != "load_extension" => {
            Authorization::Allow
        }
        // The full-text index asks whether it has changed.
        AuthAction::Pragma {
            pragma_name: "data_version",
            pragma_value: None,
        } => Authorization::Allow,
        _ => Authorization::Deny,
    }))?;
    let begun = Instant::now();
    connection.progress_handler(10_000, Some(move || begun.elapsed() > timeout))?;
    Ok(connection)
}

/// An answer, and any value on the way to it, may take so much memory.
const ANSWER_BYTES: usize = 512 << 20;

/// The pattern of LIKE and GLOB may be so long: SQLite compares it with a text at every place of it.
const PATTERN_BYTES: i32 = 1000;

/// The same as [`open`] and [`ask`], but it never takes much longer than the timeout: SQLite looks at the clock between
/// its steps only, and one call of a function on long strings is a single step. The thread it is left in ends with the
/// program.
pub fn ask_within(
    timeout: Duration,
    path: &Path,
    sql: &str,
    parameters: &[(String, String)],
    limit: Option<usize>,
) -> Result<(Answer, bool)> {
    const GRACE: Duration = Duration::from_millis(500);
    let (sender, receiver) = sync_channel(1);
    let (path, sql, parameters) = (path.to_path_buf(), sql.to_string(), parameters.to_vec());
    let asking = std::thread::Builder::new().spawn(move || {
        let answer =
            open(&path, timeout).and_then(|connection| ask(&connection, &sql, &parameters, limit));
        // Nobody waits for it after the timeout.
        let _ = sender.send(answer);
    });
    asking.map_err(Error::io("a thread for the query"))?;
    match receiver.recv_timeout(timeout.saturating_add(GRACE)) {
        Ok(answer) => answer,
        Err(RecvTimeoutError::Timeout) => Err(too_long()),
        Err(RecvTimeoutError::Disconnected) => panic!("the query panicked"),
    }
}

/// Asks: one statement, its parameters bound. At most `limit` rows come back, and whether there were more.
pub fn ask(
    connection: &Connection,
    sql: &str,
    parameters: &[(String, String)],
    limit: Option<usize>,
) -> Result<(Answer, bool)> {
    let mut statement = prepare(connection, sql)?;
    bind(&mut statement, parameters)?;
    let columns: Vec<String> = statement.column_names().map(str::to_string).collect();
    let count = columns.len();
    let mut rows = statement.raw_query();
    let mut answer = Answer {
        columns,
        rows: Vec::new(),
    };
    let mut bytes = 0;
    loop {
        match rows.next().map_err(|error| explain(&error))? {
            None => return Ok((answer, false)),
            Some(_) if limit.is_some_and(|limit| answer.rows.len() >= limit) => {
                return Ok((answer, true));
            }
            Some(row) => {
                let values: rusqlite::Result<Vec<Value>> =
                    (0..count).map(|column| row.get(column)).collect();
                let values = values?;
                bytes += values.iter().map(memory).sum::<usize>();
                if bytes > ANSWER_BYTES {
                    return Err(Error::Usage(format!(
                        "the answer is larger than {}; ask for less, or give --rows N",
                        byte_size(ANSWER_BYTES as u64)
                    )));
                }
                answer.rows.push(values);
            }
        }
    }
}

/// The memory that a value takes.
fn memory(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Text(text) => text.len(),
            Value::Blob(bytes) => bytes.len(),
            _ => 0,
        }
}

fn prepare<'c>(connection: &'c Connection, sql: &str) -> Result<Statement<'c>> {
    connection.prepare(sql).map_err(|error| match error {
        rusqlite::Error::MultipleStatement => Error::Usage("one statement at a time".to_string()),
        other => explain(&other),
    })
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
            // A number is bound as one, so that it can be compared with columns that are numbers.
            Some(place) => match value.parse::<i64>() {
                Ok(number) => statement.raw_bind_parameter(place, number)?,
                Err(_) => statement.raw_bind_parameter(place, value)?,
            },
            None => {
                return Err(Error::Usage(format!(
                    "the question has no parameter :{name}"
                )));
            }
        }
    }
    Ok(())
}

fn too_long() -> Error {
    Error::Usage("the query takes too long; give it more time with --timeout SECONDS".to_string())
}

/// What went wrong, in words that help.
fn explain(error: &rusqlite::Error) -> Error {
    let text = match error {
        rusqlite::Error::SqlInputError {
            msg, sql, offset, ..
        } => {
            let from = usize::try_from(*offset).unwrap_or(0);
            let near: String = sql
                .get(from..)
                .unwrap_or_default()
                .chars()
                .take(40)
                .collect();
            format!("{msg}, near: {near}")
        }
        other => match other.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => {
                return too_long();
            }
            Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) => {
                return Error::Usage(
                    "only questions are allowed here: nothing can be written or opened".to_string(),
                );
            }
            _ => other.to_string(),
        },
    };
    Error::Usage(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_has_a_title_and_says_how_to_read_the_answer() {
        let questions = questions();
        assert!(questions.len() >= 30);
        for question in questions {
            assert!(
                !question.title.is_empty() && !question.how_to_read.is_empty(),
                "{}",
                question.name
            );
            for (name, meaning) in &question.parameters {
                assert!(
                    question.sql.contains(&format!(":{name}")),
                    "{}: :{name}",
                    question.name
                );
                assert!(!meaning.is_empty());
            }
            let statement: String = question
                .sql
                .lines()
                .filter(|line| !line.starts_with("-- "))
                .collect();
            for word in statement.split(|character: char| {
                !character.is_alphanumeric() && character != ':' && character != '_'
            }) {
                if let Some(name) = word.strip_prefix(':').filter(|name| !name.is_empty()) {
                    assert!(
                        question.parameters.iter().any(|(known, _)| *known == name),
                        "{}: :{name} is not explained",
                        question.name
                    );
                }
            }
        }
    }
}
