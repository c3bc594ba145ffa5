//! `cc-etl report`: writes the report.

use super::{database_path, print};
use crate::cli::{Global, PageArguments};
use crate::dates;
use crate::error::{Error, Result};
use crate::query;
use crate::question;
use crate::report::{self, Section};
use crate::time_zone::TimeZone;
use std::path::Path;
use std::time::Duration;

/// The question that most people have no rows for.
const BUDGETS: &str = "budget_report";

pub fn run(global: &Global, arguments: &PageArguments) -> Result<()> {
    let path = database_path(global)?;
    let connection = query::open(&path, Duration::from_secs(60))?;
    let zone = TimeZone::read(&connection)?;
    let since = arguments.since.as_deref();
    let since = dates::of_option("since", since, dates::first_day, &zone)?;
    let until = arguments.until.as_deref();
    let until = dates::of_option("until", until, dates::last_day, &zone)?;
    // The last periods end with the last day.
    let range = [("since", &since), ("until", &until), ("today", &until)];
    let given: Vec<(String, String)> = range
        .iter()
        .filter_map(|(name, day)| Some((name.to_string(), (*day).clone()?)))
        .collect();
    let mut sections = Vec::new();
    let known = question::builtin();
    for name in report::QUESTIONS {
        let question = known.iter().find(|question| question.name == *name);
        let question = question.expect("the report names questions that ship with the program");
        let given = given.iter().filter(|(name, _)| question.has(name));
        let given: Vec<(String, String)> = given.cloned().collect();
        let parameters = question.interpret(&given, &zone)?;
        let (rows, _) = query::run(&connection, &question.sql, &parameters, None)?;
        if *name == BUDGETS && rows.rows.is_empty() {
            continue;
        }
        sections.push(Section {
            question: question.clone(),
            rows,
        });
    }
    let page = report::render(&zone, &sections);
    if arguments.out == Path::new("-") {
        return print(&page);
    }
    std::fs::write(&arguments.out, page + "\n").map_err(Error::io(&arguments.out))
}
