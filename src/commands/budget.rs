//! `cc-etl budget`: stores limits for what a day, a week or a month may cost, and compares them with what is spent.

use super::query::ask_with;
use super::{database_path, print, warn};
use crate::cli::{
    BudgetArguments, BudgetCommand, BudgetKey, BudgetSetArguments, Global, ListArguments,
};
use crate::database::{self, Wait, statements as sql};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::stop::Stop;
use crate::terminal::{money, sanitize};
use rusqlite::{Connection, params};
use std::path::Path;
use std::time::Duration;

pub fn run(global: &Global, arguments: &BudgetArguments) -> Result<()> {
    match &arguments.command {
        None => list(global, &arguments.list),
        Some(BudgetCommand::Set(arguments)) => set(global, arguments),
        Some(BudgetCommand::List(arguments)) => list(global, arguments),
        Some(BudgetCommand::Check(arguments)) => {
            list(global, arguments)?;
            check(global)
        }
        Some(BudgetCommand::Remove(arguments)) => remove(global, arguments),
    }
}

fn set(global: &Global, arguments: &BudgetSetArguments) -> Result<()> {
    let BudgetSetArguments { limit, budget } = arguments;
    let project = write(global, |connection| {
        let project = project(connection, budget)?;
        connection.execute(sql::SET_BUDGET, params![project, budget.per.name(), limit])?;
        Ok(project)
    })?;
    match global.quiet {
        true => Ok(()),
        false => print(&sanitize(&format!(
            "{} {}",
            money(*limit),
            named(&project, budget.per.name())
        ))),
    }
}

fn remove(global: &Global, budget: &BudgetKey) -> Result<()> {
    let period = budget.per.name();
    write(global, |connection| {
        let project = budget.project.as_deref().unwrap_or_default();
        let delete = |project: &str| connection.execute(sql::REMOVE_BUDGET, [project, period]);
        // The project may have another name by now.
        if delete(project)? > 0 || delete(&self::project(connection, budget)?)? > 0 {
            return Ok(());
        }
        let message = "there is no such budget; cc-etl budget list shows all";
        Err(Error::Usage(message.to_string()))
    })
}

/// Runs a function that changes the table, as the only writer.
fn write<T>(global: &Global, change: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    const PATIENCE: Duration = Duration::from_secs(30);
    let path = database_path(global)?;
    // Without a database there is nothing to lock.
    database::open_read_only(&path)?;
    let _lock = database::lock(&path, Wait::UpTo(PATIENCE), &Stop::default())?;
    let connection = database::open(&path)?;
    let result = change(&connection)?;
    close(connection, &path);
    Ok(result)
}

fn close(connection: Connection, path: &Path) {
    if let Some(problem) = database::close(connection, path) {
        warn(&problem.to_string());
    }
}

/// The name of the project of a budget; empty for all projects.
fn project(connection: &Connection, budget: &BudgetKey) -> Result<String> {
    let Some(words) = budget.project.as_deref() else {
        return Ok(String::new());
    };
    let mut statement = connection.prepare(sql::FIND_PROJECT_NAMES)?;
    let names = statement.query_map([words], |row| row.get(0))?;
    let mut names = names.collect::<rusqlite::Result<Vec<String>>>()?;
    match names.len() {
        1 => Ok(names.remove(0)),
        0 => Err(Error::Usage(format!(
            "no project is named {words:?}; cc-etl projects lists them"
        ))),
        _ => Err(Error::Usage(format!(
            "several projects contain {words:?}; give the whole name of one: {}",
            names.join(", ")
        ))),
    }
}

/// What a budget is for: `USD per month for all projects`.
fn named(project: &str, period: &str) -> String {
    match project {
        "" => format!("USD per {period} for all projects"),
        _ => format!("USD per {period} for {project}"),
    }
}

fn list(global: &Global, arguments: &ListArguments) -> Result<()> {
    let output = &arguments.output;
    let path = database_path(global)?;
    let has_any = !of_state(&database::open_read_only(&path)?, None)?.is_empty();
    if !has_any && output.format() == Format::Table {
        return print("there is no budget; cc-etl budget set 200 --per month adds one");
    }
    ask_with(global, "budget_report", &[], None, output)
}

/// Fails if a budget is exceeded.
fn check(global: &Global) -> Result<()> {
    let connection = database::open_read_only(&database_path(global)?)?;
    let over = of_state(&connection, Some("over"))?;
    match over.is_empty() {
        true => Ok(()),
        false => Err(Error::OverBudget(over.join("\n"))),
    }
}

/// The budgets in a state, or all, as sentences.
pub fn of_state(connection: &Connection, state: Option<&str>) -> Result<Vec<String>> {
    let mut statement = connection.prepare(sql::BUDGETS)?;
    let budgets = statement.query_map([state], |row| {
        let (project, period): (String, String) = (row.get("project")?, row.get("period")?);
        let (limit, spent): (f64, f64) = (row.get("limit_usd")?, row.get("spent_usd")?);
        let projected: f64 = row.get("projected_usd")?;
        let state: String = row.get("state")?;
        let end = match state.as_str() {
            "over" => "which exceeds it".to_string(),
            _ => format!("{} at this rate", money(projected)),
        };
        Ok(format!(
            "budget of {} {}: {} spent, {end}",
            money(limit),
            named(&project, &period),
            money(spent)
        ))
    })?;
    Ok(budgets.collect::<rusqlite::Result<_>>()?)
}
