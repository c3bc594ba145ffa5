//! `cc-etl prices`: lists and imports model prices.

use super::{database_path, page_rows, page_table, print, warn};
use crate::cli::{Global, ListArguments, PricesArguments, PricesCommand, PricesImportArguments};
use crate::database::{self, Inserter, Wait, statements as sql};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::load::Loader;
use crate::rows::ModelPrice;
use crate::stop::Stop;
use crate::table;
use crate::terminal::{Emphasis, byte_size, grouped};
use crate::{prices, timestamp};
use std::path::Path;

pub fn run(global: &Global, arguments: &PricesArguments) -> Result<()> {
    match &arguments.command {
        None => list(global, &arguments.list),
        Some(PricesCommand::List(arguments)) => list(global, arguments),
        Some(PricesCommand::Import(arguments)) => import(global, arguments),
        Some(PricesCommand::Check(arguments)) => check(global, arguments),
    }
}

fn list(global: &Global, arguments: &ListArguments) -> Result<()> {
    let path = database_path(global)?;
    // The built-in prices need no database.
    let connection = match path.exists() {
        true => database::open_read_only(&path)?,
        false => database::open_with_prices_only()?,
    };
    let mut prices = database::query_rows(&connection, sql::LIST_PRICES)?;
    let format = arguments.output.format();
    if format != Format::Table {
        return page_rows(global, &prices, format, true);
    }
    let shown = [
        "model",
        "valid_from",
        "origin",
        "input_usd",
        "output_usd",
        "cache_write_5m_usd",
        "cache_write_1h_usd",
        "cache_read_usd",
        "long_context_tokens",
        "fast_multiplier",
    ];
    prices.select(&shown);
    let options = table::Options {
        width: arguments.output.table_width(),
        emphasis: Emphasis::new(global.color),
        has_prices: true,
        ..table::Options::default()
    };
    let table = table::draw(&prices, &options);
    let note = "USD per million tokens; --format csv prints all columns, to edit and import";
    page_table(global, &format!("{table}\n{note}"))
}

/// The prices that ship with the program.
fn builtin_prices() -> Result<Vec<ModelPrice>> {
    let connection = database::open_with_prices_only()?;
    let mut statement = connection.prepare(sql::LIST_PRICES)?;
    let prices = statement.query_map([], |row| {
        Ok(ModelPrice {
            model: row.get("model")?,
            valid_from: row.get("valid_from")?,
            origin: row.get("origin")?,
            source: row.get("source")?,
            input_usd: row.get("input_usd")?,
            output_usd: row.get("output_usd")?,
            cache_write_5m_usd: row.get("cache_write_5m_usd")?,
            cache_write_1h_usd: row.get("cache_write_1h_usd")?,
            cache_read_usd: row.get("cache_read_usd")?,
            long_context_tokens: row.get("long_context_tokens")?,
            long_input_usd: row.get("long_input_usd")?,
            long_output_usd: row.get("long_output_usd")?,
            long_cache_write_5m_usd: row.get("long_cache_write_5m_usd")?,
            long_cache_write_1h_usd: row.get("long_cache_write_1h_usd")?,
            long_cache_read_usd: row.get("long_cache_read_usd")?,
            fast_multiplier: row.get("fast_multiplier")?,
            us_multiplier: row.get("us_multiplier")?,
            batch_multiplier: row.get("batch_multiplier")?,
            web_search_usd: row.get("web_search_usd")?,
            checked_on: row.get("checked_on")?,
        })
    })?;
    Ok(prices.collect::<rusqlite::Result<_>>()?)
}

/// Lists the models of the database that have no price, or an old one.
fn check(global: &Global, arguments: &ListArguments) -> Result<()> {
    let connection = database::open_read_only(&database_path(global)?)?;
    let doubtful = database::query_rows(&connection, sql::CHECK_PRICES)?;
    let format = arguments.output.format();
    if format != Format::Table {
        return page_rows(global, &doubtful, format, true);
    }
    if doubtful.rows.is_empty() {
        return print(
            "every model has a price that was checked within 90 days of its last response",
        );
    }
    print(&doubtful.format(Format::Table, true))?;
    print(
        "Next: put model, input_usd and output_usd (USD per million tokens) into a CSV file and run `cc-etl prices import FILE`, \
        or import LiteLLM's model_prices_and_context_window.json; a newer cc-etl may know the prices too",
    )
}

/// Larger than any real price file.
const PRICES_BYTES: u64 = 64 << 20;

/// Reads a regular file: a pipe or a device may never end.
fn read(file: &Path) -> Result<String> {
    let metadata = std::fs::metadata(file).map_err(Error::io(file))?;
    if !metadata.is_file() || metadata.len() > PRICES_BYTES {
        return Err(Error::Usage(format!(
            "{} is not a regular file of at most {}",
            file.display(),
            byte_size(PRICES_BYTES)
        )));
    }
    std::fs::read_to_string(file).map_err(Error::io(file))
}

fn import(global: &Global, arguments: &PricesImportArguments) -> Result<()> {
    let file = &arguments.file;
    let content = read(file)?;
    let today = &timestamp::now()[..10];
    let builtin = builtin_prices()?;
    let prices = prices::parse(&content, arguments.valid_from.as_deref(), today, &builtin)
        .map_err(|problem| Error::Usage(format!("{}: {problem}", file.display())))?;
    let path = database_path(global)?;
    database::open_read_only(&path)?;
    let _lock = database::lock(&path, Wait::No, &Stop::default())?;
    let connection = database::open(&path)?;
    let mut loader = Loader::new(&connection)?;
    loader.begin()?;
    let mut delete = connection.prepare(sql::DELETE_USER_PRICE)?;
    let inserter = Inserter::new(&connection);
    for price in &prices {
        delete.execute([&price.model, &price.valid_from])?;
        inserter.insert(price)?;
    }
    loader.finish()?;
    let failures = std::mem::take(&mut loader.failures);
    drop((loader, delete, inserter));
    if let Some(problem) = database::close(connection, &path) {
        warn(&problem.to_string());
    }
    if !global.quiet {
        print(&format!(
            "{} prices imported; the cost views use them",
            grouped(prices.len() as i64)
        ))?;
    }
    (failures.iter()).for_each(|failure| warn(&failure.to_string()));
    match failures.len() {
        0 => Ok(()),
        count => Err(Error::Underived(count as u64)),
    }
}
