//! `cc-etl query`: runs a question, or SQL from the user. `cc-etl daily` and its like ask the question of their name.

use super::{data_folder, database_path, page, page_rows, page_table, print, warn};
use crate::cli::{BlocksArguments, Global, OutputArguments, QueryArguments, QuestionArguments};
use crate::column::Kind;
use crate::database;
use crate::error::{Error, Result};
use crate::format::{Format, QueryRows};
use crate::query::{self, Cancelled};
use crate::question::{self, OWN, Question};
use crate::table::{self, wrap};
use crate::terminal::{self, Emphasis, counted, sanitize};
use crate::time_zone::TimeZone;
use rusqlite::types::Value;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

pub fn run(global: &Global, arguments: &QueryArguments) -> Result<()> {
    let question = match (&arguments.name, &arguments.sql) {
        (None, None) => return list(global, &arguments.output, &questions()?),
        (Some(name), _) => match find(name)? {
            Some(question) => question,
            None => {
                let mut questions = questions()?;
                let known = names(&questions);
                questions.retain(|question| question.group == *name);
                return match questions.is_empty() {
                    true => Err(unknown(name, &known)),
                    false => print_list(global, &arguments.output, &questions),
                };
            }
        },
        (None, Some(sql)) if sql == "-" => {
            let mut sql = String::new();
            let read = std::io::stdin().read_to_string(&mut sql);
            read.map_err(Error::io("standard input"))?;
            question::parse("", &sql)
        }
        (None, Some(sql)) => Question {
            sql: sql.clone(),
            ..Question::default()
        },
    };
    if arguments.show_sql {
        return print(&sanitize(question.sql.trim_end()));
    }
    let values = arguments.values.iter().chain(&arguments.parameters);
    let request = Request {
        question: &question,
        parameters: values.cloned().collect(),
        limit: arguments.limit,
        output: &arguments.output,
        csv_raw: arguments.csv_raw,
        timeout: Duration::from_secs(arguments.timeout),
    };
    request.answer(global)
}

/// Asks a question that is a command.
pub fn ask(global: &Global, name: &str, arguments: &QuestionArguments) -> Result<()> {
    let parameters = [
        ("since", arguments.since.as_deref()),
        ("until", arguments.until.as_deref()),
        ("project", arguments.project.as_deref()),
    ];
    ask_with(
        global,
        name,
        &parameters,
        arguments.limit,
        &arguments.output,
    )
}

/// `cc-etl blocks`: asks the question of its name.
pub fn blocks(global: &Global, arguments: &BlocksArguments) -> Result<()> {
    let recent = arguments.recent.then_some("3d");
    let parameters = [
        ("active", arguments.active.then_some("yes")),
        ("since", recent.or(arguments.since.as_deref())),
        ("until", arguments.until.as_deref()),
    ];
    let output = &arguments.output;
    ask_with(global, "blocks", &parameters, arguments.limit, output)?;
    match output.format() {
        Format::Table if !global.quiet => print_active_block(global, output),
        _ => Ok(()),
    }
}

/// A narrow table has no room for the rate and projection of the active block.
fn print_active_block(global: &Global, output: &OutputArguments) -> Result<()> {
    let path = database_path(global)?;
    let zone = TimeZone::read(&database::open_read_only(&path)?)?;
    let known = question::builtin();
    let question = known.iter().find(|question| question.name == "blocks");
    let sql = &question.expect("the question ships with the program").sql;
    let parameters = [("active".to_string(), "yes".to_string())];
    let timeout = Duration::from_secs(60);
    let never = Cancelled::default();
    let (rows, _) = query::run_with_timeout(timeout, &path, sql, &parameters, Some(1), &never)?;
    let Some(row) = rows.rows.first() else {
        return Ok(());
    };
    let cell = |name: &str| {
        let place = rows.columns.iter().position(|column| column == name)?;
        let value = &row[place];
        let cell = Kind::of(name, std::iter::once(value)).local_cell(value, Some(&zone));
        (!cell.is_empty()).then_some(cell)
    };
    let usage = |tokens: &str, cost: &str| match (cell(tokens), cell(cost)) {
        (Some(tokens), Some(cost)) => Some(format!("{tokens} tokens and {cost} USD")),
        (Some(tokens), None) => Some(format!("{tokens} tokens")),
        (None, _) => None,
    };
    let mut text = "The active block".to_string();
    if let (Some(end), Some(left)) = (cell("ended_at"), cell("remaining_minutes")) {
        text += &format!(" ends at {end}, in {left}");
    }
    if let Some(usage) = usage("total_tokens", "cost_usd") {
        text += &format!(": {usage} so far");
    }
    if let (Some(rate), Some(level)) = (cell("tokens_per_minute"), cell("burn_level")) {
        text += &format!(", {rate} tokens per minute ({level})");
    }
    if let Some(usage) = usage("projected_total_tokens", "projected_cost_usd") {
        text += &format!("; at this rate {usage} at its end");
    }
    let width = output.table_width().unwrap_or(usize::MAX);
    print(&format!("\n{}", wrap(&text, width, usize::MAX).join("\n")))
}

/// Asks a question with these parameters.
pub fn ask_with(
    global: &Global,
    name: &str,
    parameters: &[(&str, Option<&str>)],
    limit: Option<usize>,
    output: &OutputArguments,
) -> Result<()> {
    let known = question::builtin();
    let question = known.iter().find(|question| question.name == name);
    let given = |(name, value): &(&str, Option<&str>)| {
        Some((name.to_string(), value.as_ref()?.to_string()))
    };
    let request = Request {
        question: question.expect("the question ships with the program"),
        parameters: parameters.iter().filter_map(given).collect(),
        limit,
        output,
        csv_raw: false,
        timeout: Duration::from_secs(60),
    };
    request.answer(global)
}

/// Default limit for tables.
const TABLE_ROWS: usize = 1000;

/// A question, and how to ask it.
struct Request<'r> {
    question: &'r Question,
    parameters: Vec<(String, String)>,
    limit: Option<usize>,
    output: &'r OutputArguments,
    csv_raw: bool,
    timeout: Duration,
}

impl Request<'_> {
    fn answer(mut self, global: &Global) -> Result<()> {
        let question = self.question;
        refuse_unknown_parameters(question, &self.parameters)?;
        let path = database_path(global)?;
        let format = self.output.format();
        // A question that has a limit sorts first, and its totals are those of its rows.
        let mut limit = self.limit;
        if let Some(rows) = self.limit.filter(|_| question.has("limit")) {
            self.parameters
                .push(("limit".to_string(), rows.to_string()));
            limit = None;
        }
        if format == Format::Table {
            limit = limit.or(Some(TABLE_ROWS));
        }
        let zone = TimeZone::read(&database::open_read_only(&path)?)?;
        let parameters = question.interpret(&self.parameters, &zone)?;
        let run = |sql: &str, limit| {
            let never = Cancelled::default();
            query::run_with_timeout(self.timeout, &path, sql, &parameters, limit, &never)
        };
        let (rows, has_more) = run(&question.sql, limit)?;
        match format {
            Format::Table => {
                let totals = match question.totals_sql().filter(|_| rows.rows.len() > 1) {
                    Some(sql) => Some(run(&sql, None)?.0),
                    None => None,
                };
                page_table(global, &self.table(global, &rows, totals.as_ref(), &zone))?;
            }
            _ => page_rows(global, &rows, format, self.csv_raw)?,
        }
        if has_more {
            let shown = counted(rows.rows.len() as i64, "row");
            warn(&format!(
                "only the first {shown} are shown; --limit N shows more"
            ));
        }
        Ok(())
    }

    /// The table, below what the question is and how to read it.
    fn table(
        &self,
        global: &Global,
        rows: &QueryRows,
        totals: Option<&QueryRows>,
        zone: &TimeZone,
    ) -> String {
        let question = self.question;
        let options = table::Options {
            width: self.output.table_width(),
            emphasis: Emphasis::new(global.color),
            measured: question.bar.as_deref(),
            zone: Some(zone),
            // The demo is of a fixed time.
            has_ages: !global.demo,
            totals,
            ..table::Options::default()
        };
        let emphasis = options.emphasis;
        let mut lines = Vec::new();
        if !question.title.is_empty() && !global.quiet {
            let width = options.width.unwrap_or(usize::MAX);
            let wrapped = |text: &str| wrap(&sanitize(text), width, usize::MAX);
            let title = wrapped(&question.title);
            let how_to_read = wrapped(&question.how_to_read);
            lines.extend(title.iter().map(|line| emphasis.bold(line)));
            lines.extend(how_to_read.iter().map(|line| emphasis.faint(line)));
            lines.push(String::new());
        }
        lines.push(table::draw(rows, &options));
        if rows.rows.is_empty() && !global.quiet {
            let note = match self.missing() {
                Some(name) => format!("no rows without {name}=..."),
                None => "no rows".to_string(),
            };
            lines.push(emphasis.faint(&sanitize(&note)));
        }
        if let Some(limit) = self.default_limit(rows).filter(|_| !global.quiet) {
            let note = format!("the first {limit} rows; --limit N shows more");
            lines.push(emphasis.faint(&note));
        }
        lines.join("\n")
    }

    /// A parameter that is not given and without which there are no rows.
    fn missing(&self) -> Option<&str> {
        let is_given = |known: &question::Parameter| {
            self.parameters.iter().any(|(name, _)| *name == known.name)
        };
        let mut parameters = self.question.parameters.iter();
        let missing =
            parameters.find(|known| known.default() == Some("no rows") && !is_given(known))?;
        Some(&missing.name)
    }

    /// The limit of the question itself, if it may have left out rows.
    fn default_limit(&self, rows: &QueryRows) -> Option<usize> {
        let parameters = &self.question.parameters;
        let limit = parameters.iter().find(|known| known.name == "limit")?;
        let is_given = self.parameters.iter().any(|(name, _)| name == "limit");
        let default = limit.default()?.parse().ok()?;
        (!is_given && rows.rows.len() == default).then_some(default)
    }
}

/// SQLite would only say that the statement has no such parameter.
pub fn refuse_unknown_parameters(
    question: &Question,
    parameters: &[(String, String)],
) -> Result<()> {
    if question.name.is_empty() {
        return Ok(());
    }
    let unknown = parameters.iter().find(|(name, _)| !question.has(name));
    let Some((name, _)) = unknown else {
        return Ok(());
    };
    let known = question.parameters.iter().map(|known| known.name.as_str());
    let known: Vec<&str> = known.collect();
    let has = match known.is_empty() {
        true => "no parameters".to_string(),
        false => format!("no parameter {name}; it has {}", known.join(", ")),
    };
    Err(Error::Usage(format!("{} has {has}", question.name)))
}

/// The question of a name, or in a file.
pub fn find(name: &str) -> Result<Option<Question>> {
    if name.ends_with(".sql") {
        return question::read(Path::new(name)).map(Some);
    }
    let mut questions = questions()?.into_iter();
    Ok(questions.find(|question| question.name == name))
}

fn questions() -> Result<Vec<Question>> {
    question::all(
        data_folder()
            .map(|folder| folder.join("queries"))
            .as_deref(),
    )
}

fn names(questions: &[Question]) -> Vec<String> {
    questions
        .iter()
        .map(|question| question.name.clone())
        .collect()
}

/// All questions: in a terminal on one screen, by group.
fn list(global: &Global, output: &OutputArguments, questions: &[Question]) -> Result<()> {
    if output.format() != Format::Table || !terminal::is_used() {
        return print_list(global, output, questions);
    }
    let emphasis = Emphasis::new(global.color);
    let width = output.table_width().unwrap_or(80);
    page(global, &overview(questions, width, &emphasis))
}

/// The names of the questions by group, with their own parameters. Those that many have are left to the list of a group.
fn overview(questions: &[Question], width: usize, emphasis: &Emphasis) -> String {
    const INDENT: usize = 13;
    const COMMON: [&str; 4] = ["since", "until", "project", "limit"];
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    let mut group = "";
    for question in questions {
        let (name, parameters) = (
            sanitize(&question.name),
            parameters(question, |name| !COMMON.contains(&name)),
        );
        let shown = terminal::shown_width(&name) + terminal::shown_width(&parameters) + 1;
        if question.group != group {
            group = &question.group;
            lines.push(emphasis.bold(&format!("{:<INDENT$}", sanitize(group))));
            used = INDENT;
        } else if used + shown + 2 > width {
            lines.push(" ".repeat(INDENT));
            used = INDENT;
        } else {
            lines
                .last_mut()
                .expect("a group begins with a line")
                .push_str("  ");
            used += 2;
        }
        let line = lines.last_mut().expect("a group begins with a line");
        line.push_str(&emphasis.accent(&name));
        used += shown - 1;
        if !parameters.is_empty() {
            line.push_str(&emphasis.faint(&format!(" {}", sanitize(&parameters))));
            used += 1;
        }
    }
    lines.push("Ask one: cc-etl query QUESTION [NAME=VALUE], such as since=7d project=tea".into());
    lines.push("Explain a group and its parameters: cc-etl query cost".into());
    lines.push("Run SQL: cc-etl query --sql 'select ...', or cc-etl query FILE.sql".into());
    lines.join("\n")
}

/// The parameters of a question, with their defaults where they have a value.
fn parameters(question: &Question, is_shown: impl Fn(&str) -> bool) -> String {
    let parameter = |parameter: &question::Parameter| match parameter.default() {
        Some(value) if !value.contains(' ') => format!("{}={value}", parameter.name),
        _ => parameter.name.clone(),
    };
    let shown = question
        .parameters
        .iter()
        .filter(|parameter| is_shown(&parameter.name));
    let parameters: Vec<String> = shown.map(parameter).collect();
    parameters.join(" ")
}

/// Questions with their titles and parameters, one per row.
fn print_list(global: &Global, output: &OutputArguments, questions: &[Question]) -> Result<()> {
    let row = |question: &Question| {
        let cells = [
            question.name.clone(),
            question.group.clone(),
            question.title.clone(),
            parameters(question, |_| true),
        ];
        cells.map(Value::Text).to_vec()
    };
    let rows = QueryRows {
        columns: ["question", "group", "title", "parameters"]
            .map(str::to_string)
            .to_vec(),
        rows: questions.iter().map(row).collect(),
    };
    let options = table::Options {
        width: output.table_width(),
        emphasis: Emphasis::new(global.color),
        ..table::Options::default()
    };
    match output.format() {
        Format::Table => page_table(global, &table::draw(&rows, &options)),
        format => page_rows(global, &rows, format, false),
    }
}

/// The error for an unknown question suggests similar names.
fn unknown(name: &str, known: &[String]) -> Error {
    let is_similar = |other: &&String| {
        other.contains(name)
            || name.contains(other.as_str())
            || strsim::osa_distance(name, other) <= (name.len() / 3).max(1)
    };
    let similar: Vec<&str> = known
        .iter()
        .filter(is_similar)
        .map(String::as_str)
        .collect();
    let name = sanitize(name);
    Error::Usage(match (similar.is_empty(), name == OWN) {
        (_, true) => "you have no questions of your own; they are .sql files in the folder queries next to the default database"
            .to_string(),
        (true, _) => format!("unknown question {name}; cc-etl query lists them"),
        (false, _) => format!(
            "unknown question {name}; did you mean {}?",
            sanitize(&similar.join(", "))
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn all_questions_are_listed_on_one_screen() {
        let questions = question::all(None).unwrap();
        let overview = overview(&questions, 80, &Emphasis::default());
        assert!(
            overview.lines().all(|line| line.width() <= 80),
            "{overview}"
        );
        assert!(overview.lines().count() < 24, "{overview}");
        for question in questions {
            assert!(overview.contains(&question.name), "{}", question.name);
        }
    }
}
