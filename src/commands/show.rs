//! `cc-etl show`: prints a session.

use super::{self as commands, database_path};
use crate::cli::{Global, ShowArguments, ShowFormat, ToolDetail};
use crate::database::{self, statements as sql};
use crate::error::{Error, Result};
use crate::format::text;
use crate::query;
use crate::session::{Detail, Session, html, markdown, terminal::Renderer};
use crate::terminal::{self, Emphasis, sanitize, sanitize_json};
use rusqlite::Connection;
use std::time::Duration;

pub fn run(global: &Global, arguments: &ShowArguments) -> Result<()> {
    let path = database_path(global)?;
    let connection = query::open(&path, Duration::from_secs(60))?;
    let session_id = match (&arguments.session, arguments.last) {
        (Some(words), _) => database::find_session(&connection, words)?,
        (None, true) => last_session(&connection)?,
        (None, false) => {
            return Err(Error::Usage(
                "give a session id, the beginning of one, or words of a title; or --last"
                    .to_string(),
            ));
        }
    };
    let format = match (arguments.json, arguments.format) {
        (true, _) => ShowFormat::Json,
        (false, Some(format)) => format,
        (false, None) if terminal::is_used() => ShowFormat::Terminal,
        (false, None) => ShowFormat::Markdown,
    };
    let tools = match arguments.no_tools {
        true => ToolDetail::None,
        false => arguments.tools,
    };
    let detail = Detail {
        thinking: !arguments.no_thinking,
        tools: tools != ToolDetail::None,
        turn_costs: matches!(format, ShowFormat::Html),
    };
    let session = Session::read(&connection, &session_id, detail)?;
    let page = match format {
        ShowFormat::Terminal => {
            let renderer = Renderer {
                emphasis: &Emphasis::new(global.color),
                width: terminal::size().map_or(80, |(width, _)| width),
                tools_in_full: tools == ToolDetail::Full,
            };
            renderer.render(&session)
        }
        ShowFormat::Markdown => sanitize(markdown::render(&session).trim_end()).into_owned(),
        ShowFormat::Html => html::render(&session),
        ShowFormat::Json => sanitize_json(&session.json().to_string()).into_owned(),
    };
    match &arguments.out {
        Some(path) => std::fs::write(path, page + "\n").map_err(Error::io(path)),
        None => commands::page(global, &page),
    }
}

fn last_session(connection: &Connection) -> Result<String> {
    let (sessions, _) = query::run(connection, sql::LAST_SESSION, &[], None)?;
    match sessions.rows.first() {
        Some(row) => Ok(text(&row[0])),
        None => Err(Error::Usage(
            "the database has no session; cc-etl sync imports them".to_string(),
        )),
    }
}
