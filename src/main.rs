//! Parses the arguments, runs the command, prints an error, sets the exit code.

use cc_etl::cli::{Cli, Command};
use cc_etl::{commands, terminal};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Cli { global, command } = Cli::parse();
    let result = match command {
        Command::Sync(arguments) => commands::sync::run(&global, &arguments),
        Command::Restore(arguments) => commands::restore::run(&global, &arguments),
        Command::Rebuild => commands::rebuild::run(&global),
        Command::Check(arguments) => commands::check::run(&global, &arguments),
        Command::Query(arguments) => commands::query::run(&global, &arguments),
        Command::Search(arguments) => commands::search::run(&global, &arguments),
        Command::Show(arguments) => commands::show::run(&global, &arguments),
        Command::Prices(command) => commands::prices::run(&global, &command),
        Command::Datasette(arguments) => commands::datasette::run(&global, &arguments),
        Command::Schema(arguments) => commands::schema::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cc-etl: {}", terminal::sanitize(&error.to_string()));
            ExitCode::from(error.exit_code())
        }
    }
}
