//! `cc-etl prices`: shows the prices of models, and takes the user's own.

use super::{database_path, print, warn};
use crate::cli::{Global, PricesCommand, PricesImportArguments, PricesListArguments};
use crate::database::{self, Inserter, Wait, statements as sql};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::load::Loader;
use crate::stop::Stop;
use crate::terminal::{byte_size, grouped};
use crate::{prices, timestamp};
use std::path::Path;

/// Lists or imports.
pub fn run(global: &Global, command: &PricesCommand) -> Result<()> {
    match command {
        PricesCommand::List(arguments) => list(global, arguments),
        PricesCommand::Import(arguments) => import(global, arguments),
    }
}

fn list(global: &Global, arguments: &PricesListArguments) -> Result<()> {
    let path = database_path(global)?;
    // Without a database the built-in prices can be seen all the same.
    let connection = match path.exists() {
        true => database::open_read_only(&path)?,
        false => database::open_with_prices_only()?,
    };
    let mut prices = database::answer(&connection, sql::LIST_PRICES)?;
    if arguments.format != Format::Table {
        return print(&prices.format(arguments.format, true));
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
    prices.keep(&shown);
    print(&prices.format(Format::Table, true))?;
    print("USD per million tokens; --format csv shows all columns and can be edited and imported")
}

/// More than any list of prices has.
const PRICES_BYTES: u64 = 64 << 20;

/// The content of a file. A pipe or a device may never end.
fn read(file: &Path) -> Result<String> {
    let metadata = std::fs::metadata(file).map_err(Error::io(file))?;
    if !metadata.is_file() || metadata.len() > PRICES_BYTES {
        return Err(Error::Usage(format!(
            "{} is not a file of at most {}; save the prices in one",
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
    let prices = prices::parse(&content, arguments.valid_from.as_deref(), today)
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
            "{} prices imported; the cost views show them from now on",
            grouped(prices.len() as i64)
        ))?;
    }
    (failures.iter()).for_each(|failure| warn(&failure.to_string()));
    match failures.len() {
        0 => Ok(()),
        count => Err(Error::Underived(count as u64)),
    }
}
